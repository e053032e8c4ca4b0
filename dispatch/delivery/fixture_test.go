package delivery_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/dispatch/delivery"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// fixture is a service with its store and an account.
type fixture struct {
	*delivery.Service

	t       *testing.T
	reg     *prometheus.Registry
	account string
	micros  atomic.Int64 // the clock
	woken   []string
	events  int
}

// eachFixture runs a test on both engines.
func eachFixture(t *testing.T, do func(t *testing.T, s *fixture)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := &fixture{t: t, reg: prometheus.NewRegistry(), account: "acc_1"}
		s.micros.Store(start.UnixMicro())
		addAccount(t, db, s.account)
		s.Service = delivery.New(delivery.Config{
			DB: db, Metrics: s.reg, Now: func() time.Time { return time.UnixMicro(s.micros.Load()).UTC() },
			Wake: func(webhook string) { s.woken = append(s.woken, webhook) },
		})
		do(t, s)
	})
}

// advance advances the clock.
func (s *fixture) advance(d time.Duration) { s.micros.Add(d.Microseconds()) }

// webhook creates a subscription of the account, and returns its id.
func (s *fixture) webhook(world schema.World, n int) string {
	s.t.Helper()
	id := fmt.Sprintf("wh_01KAHR3M5Q7S9V1X3Z5B7D%04d", n)
	addWebhook(s.t, s.DB, s.account, world, id)
	return id
}

// delivery stores a pending delivery of a new event.
func (s *fixture) delivery(world schema.World, webhook string) delivery.Row {
	s.t.Helper()
	s.events++
	e := addEvent(s.t, s.DB, s.account, world, fmt.Sprintf("evt_01KAHR3M5Q7S9V1X3Z5B7D%04d", s.events))
	return insert(s.t, s.DB, []delivery.Draft{{Event: e, Webhook: webhook, Lease: true}}, lease("token", s.Now().Add(time.Minute)), s.Now())[0]
}

// finished stores a delivery with a final state, after its last attempt.
func (s *fixture) finished(world schema.World, webhook string, status int) delivery.Row {
	s.t.Helper()
	r := s.delivery(world, webhook)
	sqlstoretest.Exec(s.t, s.DB, "UPDATE delivery SET attempts = 7 WHERE id = $1", r.ID)
	r.Attempts = 7
	if stale := record(s.t, s.DB, s.Now(), outcome(&r, "token", status, s.Now())); stale != 0 {
		s.t.Fatal("stale")
	}
	return r
}

// counter returns the value of a counter of the service.
func (s *fixture) counter(name string) float64 {
	s.t.Helper()
	return counter(s.t, s.reg, name)
}

// counter returns the value of a counter.
func counter(t *testing.T, reg *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}
