package query

import (
	"fmt"
	"sync/atomic"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/places"
)

// pinAnswers holds the answers for one pin code in one snapshot.
type pinAnswers struct {
	record httpapi.Response
	detail atomic.Pointer[detailedAnswer]
}

// positionQuery selects the current answer for a position.
type positionQuery struct {
	point  places.Point
	pin    int32   // of the point, 0 for none
	kinds  kindSet // of stations that count, 0 for the default kinds
	detail bool
}

// cachedPin returns the answer of a pin code, which the first query for it caches.
// The kinds are the default ones.
func (s *Snapshot) cachedPin(pin int32, detail bool, now time.Time) (httpapi.Response, bool) {
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

// position returns the answer for a position, and caches that of a pin code. It
// returns false if no station within reach has an AQI.
func (s *Snapshot) position(q positionQuery, now time.Time) (resp httpapi.Response, ok bool, err error) {
	f, used, ok := s.interpolate(q.point, s.kindsFor(q.kinds))
	if !ok {
		return httpapi.Response{}, false, nil
	}
	var answers pinAnswers
	record := f.record(s.placeName(used[0].station))
	answers.record = httpapi.Ready(q.kinds.appendTo(append(record.Append(make([]byte, 0, 256)), '}')), s.built)
	answers.record.Measured = int64(f.updated)
	resp = answers.record
	if q.detail {
		d := detailOf(&f, now)
		d.Kinds, d.DistanceKM = q.kinds.named(), kilometres(used[0].km)
		if q.pin != 0 {
			d.Pincode = fmt.Sprint(q.pin)
		}
		if c := s.stations[used[0].station].city; c >= 0 {
			d.State = s.cities[c].State
		}
		made, err := s.detailed(record, d, used, f.updated)
		if err != nil {
			return httpapi.Response{}, false, err
		}
		resp = made.Response
		answers.detail.Store(made)
	}
	if q.pin != 0 && q.kinds == 0 {
		if got, loaded := s.pins.LoadOrStore(q.pin, &answers); loaded && q.detail {
			got.(*pinAnswers).detail.Store(answers.detail.Load())
		}
	}
	return resp, true, nil
}

// placeName returns the place of a station in a record: its city, or its own name
// if its city is unknown.
func (s *Snapshot) placeName(i int32) string {
	if c := s.stations[i].city; c >= 0 {
		return s.index.Label(int(c))
	}
	return s.stations[i].Name
}
