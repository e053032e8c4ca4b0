package evaluation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"vayu/dispatch/outbox"
	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/query/aggregate"
	"vayu/query/alert"
	"vayu/query/alert/evaluation"
	"vayu/schema"
	"vayu/schema/air"
)

// start is 12:00 in India.
var start = time.Date(2026, 11, 20, 6, 30, 0, 0, time.UTC)

// fakeAir is the air of the sandbox: an AQI for each hour of each city. Its fields must not change during a refresh.
type fakeAir struct {
	published  *moment
	past       map[string]map[uint32]int
	fails      map[string]bool // cities whose past cannot be read
	reads      []string        // cities whose past was read
	evaluating func()          // called when an evaluation begins; nil for nothing
	gate       chan struct{}   // reading the past waits until it is closed; nil for no wait
	reading    chan struct{}   // receives a value before the wait at the gate
}

// moment is a publication. Its figures do not change.
type moment struct {
	publication aggregate.Publication
	cities      map[string]cityHour
}

// cityHour is the current hour of a city.
type cityHour struct {
	hour uint32
	aqi  int
}

func (m *moment) Publication() aggregate.Publication { return m.publication }

func (m *moment) Newest() (newest uint32) {
	for _, city := range m.cities {
		newest = max(newest, city.hour)
	}
	return newest
}

func (m *moment) Figures(p *alert.Place) (aggregate.Figures, bool) {
	city, ok := m.cities[p.City]
	return figures(city.hour, city.aqi), ok
}

func figures(hour uint32, aqi int) aggregate.Figures {
	f := aggregate.NoFigures()
	f.At, f.Updated, f.AQI, f.Dominant = hour, hour, int16(aqi), air.PM25
	return f
}

// publish makes an hour of cities current, counted from start. It is a new publication, also of an hour that is current.
func (f *fakeAir) publish(hour int, aqi map[string]int) {
	cities := make(map[string]cityHour, len(aqi))
	for city, n := range aqi {
		cities[city] = cityHour{at(hour), n}
	}
	rolledUp := start.UnixMilli() + int64(hour)*3_600_000
	if f.published != nil {
		rolledUp = max(rolledUp, f.published.publication.RolledUp+1)
	}
	f.restore(&moment{aggregate.Publication{RolledUp: rolledUp}, cities})
}

// restore publishes a moment. Other instances may have published it earlier.
func (f *fakeAir) restore(m *moment) {
	for city, c := range m.cities {
		if f.past[city] == nil {
			f.past[city] = make(map[uint32]int)
		}
		f.past[city][c.hour] = c.aqi
	}
	f.published = m
}

// at returns an hour that is counted from start, in Unix seconds.
func at(hour int) uint32 { return uint32(start.Unix()) + uint32(hour)*3600 }

func (f *fakeAir) Published(world schema.World) evaluation.Published {
	if world != schema.Sandbox || f.published == nil {
		return nil
	}
	if f.evaluating != nil {
		f.evaluating()
	}
	return f.published
}

func (f *fakeAir) Hours(_ context.Context, _ schema.World, p *alert.Place, from, to schema.Day) (all []aggregate.Figures, err error) {
	if f.gate != nil {
		f.reading <- struct{}{}
		<-f.gate
	}
	f.reads = append(f.reads, p.City)
	if f.fails[p.City] {
		return nil, errors.New("ClickHouse is down")
	}
	for hour := uint32(from.Start().Unix()); hour <= uint32(to.End().Unix()); hour += 3600 {
		if aqi, ok := f.past[p.City][hour]; ok {
			all = append(all, figures(hour, aqi))
		}
	}
	return all, nil
}

func (*fakeAir) Chances(schema.World, *alert.Place) alert.Chances { return nil }
func (*fakeAir) Forecasts() bool                                  { return false }

func (f *fakeAir) Observe(_ schema.World, p *alert.Place) (o alert.Observation, ok bool) {
	if f.published == nil {
		return o, false
	}
	o.Figures, ok = f.published.Figures(p)
	return o, ok
}

func (*fakeAir) Place(_ context.Context, _ schema.World, p air.AlertPlace) (alert.Place, error) {
	p.Name = p.City
	return alert.Place{AlertPlace: p}, nil
}

// fixture has the API of alerts and an evaluator on one store.
type fixture struct {
	db     *sqlstore.DB
	air    *fakeAir
	now    time.Time
	tenant accesstest.Tenant
	events alert.Events
	client accesstest.Client
	*evaluation.Evaluator
}

func newFixture(t *testing.T, db *sqlstore.DB) *fixture {
	t.Helper()
	f := &fixture{db: db, air: &fakeAir{past: make(map[string]map[uint32]int)}, now: start, tenant: accesstest.AddTenant(t, db, "tenant")}
	clock := func() time.Time { return f.now }
	access := accesstest.Access(t, db, clock)
	f.outbox(t)
	f.client = accesstest.NewClient(t, access, alert.New(alert.Config{
		DB: db, Change: access.Change, Air: f.air, Events: f.events, Now: clock,
		Subscribed: func(schema.Owner, schema.EventType) int { return 0 },
	}).Routes())
	f.restart()
	return f
}

func (f *fixture) outbox(tb testing.TB) {
	tb.Helper()
	f.events = outbox.New(outbox.Config{DB: f.db, Now: func() time.Time { return f.now }})
}

// restart replaces the evaluator by one that knows nothing, as after a crash.
func (f *fixture) restart() { f.Evaluator = f.another() }

func (f *fixture) another() *evaluation.Evaluator {
	return evaluation.New(evaluation.Config{DB: f.db, Air: f.air, Events: f.events, Now: func() time.Time { return f.now }})
}

// add creates an alert and returns its id.
func (f *fixture) add(t *testing.T, body string) string {
	t.Helper()
	return f.client.Do(f.tenant.Keys[schema.Sandbox], http.MethodPost, "/v1/alerts", body).Want(t, "creating an alert", 201).TextAt("id")
}

// hour publishes an hour and evaluates it.
func (f *fixture) hour(t *testing.T, hour int, aqi map[string]int) {
	t.Helper()
	f.air.publish(hour, aqi)
	f.now = start.Add(time.Duration(hour)*time.Hour + 20*time.Minute)
	f.refresh(t)
}

func (f *fixture) refresh(t *testing.T) {
	t.Helper()
	if err := f.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.Recheck(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// made returns the events of all alerts, in their order: city, type, value and reason.
func (f *fixture) made(t *testing.T) (out []string) {
	t.Helper()
	for _, e := range f.all(t) {
		out = append(out, fmt.Sprintf("%s %s %v %s", e.Data.Place.City, e.Type[len("air.alert."):], e.Data.Value, e.Data.Reason))
	}
	return out
}

// event is an envelope of an event of an alert.
type event struct {
	Type string
	Data air.AlertData
}

// all returns the events of all alerts, in their order.
func (f *fixture) all(t *testing.T) []event {
	t.Helper()
	out, err := sqlstore.All(f.db.View(t.Context()), func(row sqlstore.Scanner) (e event, err error) {
		var envelope []byte
		if err := row.Scan(&envelope); err != nil {
			return e, err
		}
		err = json.Unmarshal(envelope, &e)
		return e, err
	}, "SELECT envelope FROM event WHERE type LIKE 'air.alert.%' ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// state returns the state of an alert in the API.
func (f *fixture) state(t *testing.T, id string) string {
	t.Helper()
	return f.client.Do(f.tenant.Keys[schema.Sandbox], http.MethodGet, "/v1/alerts/"+id, "").Want(t, "reading an alert", 200).TextAt("state")
}
