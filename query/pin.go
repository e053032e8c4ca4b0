package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/places"
	"vayu/schema"
)

// pinAnswers holds the answers for one pin code in one snapshot.
type pinAnswers struct {
	record httpapi.Response
	detail atomic.Pointer[detailedAnswer]
}

// pinTimeout bounds the wait for the pin codes, which take a second to load after a
// start.
const pinTimeout = 3 * time.Second

// locatePin returns the position of a pin code.
func (s *Service) locatePin(ctx context.Context, code int32) (places.Point, error) {
	pin, ok, err := s.pins.Find(code)
	if errors.Is(err, places.ErrNoPins) {
		ctx, cancel := context.WithTimeout(ctx, pinTimeout)
		s.pins.Wait(ctx)
		cancel()
		pin, ok, err = s.pins.Find(code)
	}
	switch {
	case errors.Is(err, places.ErrNoPins):
		return places.Point{}, schema.NewProblem(schema.ServiceUnavailable, "pincode", "Pin codes cannot be looked up at the moment; use a city instead.")
	case err != nil:
		return places.Point{}, err
	case !ok:
		return places.Point{}, schema.NewProblem(schema.LocationNotFound, "pincode", fmt.Sprintf("No place has the pin code %d.", code))
	}
	return pin.Position, nil
}

// pinCurrent answers a query for a pin code. It caches the answer in the snapshot.
func (s *Service) pinCurrent(
	ctx context.Context, a *worldState, snap *Snapshot, q *aqiQuery, now time.Time,
) (httpapi.Response, error) {
	if got, ok := snap.pins.Load(q.pin); ok && !q.namesKinds() {
		answers := got.(*pinAnswers)
		if !q.detail {
			return answers.record, nil
		}
		if d := answers.detail.Load(); d.valid(now) {
			return d.Response, nil
		}
	}
	at, err := s.locatePin(ctx, q.pin)
	if err != nil {
		return httpapi.Response{}, err
	}
	record, detail, err := a.position(ctx, snap, at, q, now)
	if err != nil {
		return httpapi.Response{}, err
	}
	if q.namesKinds() {
		if q.detail {
			return detail.Response, nil
		}
		return record, nil
	}
	got, _ := snap.pins.LoadOrStore(q.pin, &pinAnswers{record: record})
	if !q.detail {
		return record, nil
	}
	got.(*pinAnswers).detail.Store(detail)
	return detail.Response, nil
}

// position answers a query for a position. The detailed answer is nil unless
// requested.
func (a *worldState) position(
	ctx context.Context, snap *Snapshot, at places.Point, q *aqiQuery, now time.Time,
) (httpapi.Response, *detailedAnswer, error) {
	f, used, ok := snap.interpolate(at, snap.kindsFor(q))
	if !ok {
		return httpapi.Response{}, nil, a.noStationNear(ctx, snap, at, q, now)
	}
	record := f.record(snap.placeName(used[0].station))
	short := httpapi.Ready(q.appendKinds(append(record.Append(make([]byte, 0, 256)), '}')), snap.built)
	short.Measured = int64(f.updated)
	if !q.detail {
		return short, nil, nil
	}
	d := detailOf(&f, now)
	d.Kinds, d.DistanceKM = q.kinds.named(), kilometres(used[0].km)
	if q.has(paramPincode) {
		d.Pincode = fmt.Sprint(q.pin)
	}
	if c := snap.stations[used[0].station].city; c >= 0 {
		d.State = snap.cities[c].State
	}
	snap.addStations(&d, used)
	body, err := json.Marshal(detailRecord{Record: record, Detail: d})
	if err != nil {
		return httpapi.Response{}, nil, err
	}
	return short, newDetailed(body, f.updated, d.Stale), nil
}

// placeName returns the place of a station in a record: its city, or its own name
// if its city is unknown.
func (s *Snapshot) placeName(i int32) string {
	if c := s.stations[i].city; c >= 0 {
		return s.index.Label(int(c))
	}
	return s.stations[i].Name
}

// withField returns a problem with another parameter as its Field.
func withField(err error, field string) error {
	var p *schema.Problem
	if !errors.As(err, &p) {
		return err
	}
	named := *p
	named.Field = field
	return &named
}
