package snapshot

import (
	"fmt"
	"sync/atomic"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/places"
)

// pinAnswers has the answers for one pin code: the record, and the answer with view=detail.
type pinAnswers struct {
	record httpapi.Response
	detail atomic.Pointer[detailedAnswer]
}

// Position is a query for the current answer at a position.
type Position struct {
	Point  places.Point
	Pin    int32             // pin code of Point, 0 for none
	Kinds  aggregate.KindSet // kinds of stations that count, 0 for the default kinds
	Detail bool
}

// CachedPin returns the cached answer for a pin code and the default kinds. It returns false if the cache has no valid
// answer. [Snapshot.At] fills the cache.
func (s *Snapshot) CachedPin(pin int32, detail bool, now time.Time) (httpapi.Response, bool) {
	got, ok := s.pins.Load(pin)
	if !ok {
		return httpapi.Response{}, false
	}
	answers := got.(*pinAnswers)
	if !detail {
		return answers.record, true
	}
	if d := answers.detail.Load(); d.valid(now) {
		return d.Response, true
	}
	return httpapi.Response{}, false
}

// At returns the current answer for a position. For a pin code and the default kinds, it caches the
// answer. It returns false if no station within 100 km has an AQI.
func (s *Snapshot) At(q Position, now time.Time) (resp httpapi.Response, ok bool, err error) {
	f, used, ok := s.Interpolate(q.Point, s.KindsFor(q.Kinds))
	if !ok {
		return httpapi.Response{}, false, nil
	}
	var answers pinAnswers
	record := f.Record(s.PlaceName(used[0].Station))
	answers.record = httpapi.Ready(q.Kinds.AppendTo(append(record.Append(make([]byte, 0, 256)), '}')), s.Built)
	answers.record.Measured = int64(f.Updated)
	resp = answers.record
	if q.Detail {
		d := DetailOf(&f, now)
		d.Kinds, d.DistanceKM = q.Kinds.Named(), Kilometres(used[0].KM)
		if q.Pin != 0 {
			d.Pincode = fmt.Sprint(q.Pin)
		}
		if c := s.Stations[used[0].Station].InCity; c >= 0 {
			d.State = s.Cities[c].State
		}
		made, err := s.detailed(record, d, used, f.Updated)
		if err != nil {
			return httpapi.Response{}, false, err
		}
		resp = made.Response
		answers.detail.Store(made)
	}
	if q.Pin != 0 && q.Kinds == 0 {
		if got, loaded := s.pins.LoadOrStore(q.Pin, &answers); loaded && q.Detail {
			got.(*pinAnswers).detail.Store(answers.detail.Load())
		}
	}
	return resp, true, nil
}

// PlaceName returns the place name in the record of a position whose nearest station is `i`. It is the station's city,
// or the station's own name if the city is unknown.
func (s *Snapshot) PlaceName(i int32) string {
	if c := s.Stations[i].InCity; c >= 0 {
		return s.Index.Label(int(c))
	}
	return s.Stations[i].Name
}
