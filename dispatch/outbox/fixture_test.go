package outbox

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// outboxFixture is an outbox on a store with the accounts a, b and c.
type outboxFixture struct {
	*Outbox
	t     testing.TB
	clock fixture.Clock
	log   fixture.Log
	reg   *prometheus.Registry
}

var accounts = []string{"acc_a", "acc_b", "acc_c", "acc_live", "acc_sandbox"}

// newFixture creates an outbox, and the accounts if they are missing.
func newFixture(t testing.TB, db *sqlstore.DB) *outboxFixture {
	t.Helper()
	d := &outboxFixture{t: t, reg: prometheus.NewRegistry()}
	d.Outbox = New(Config{DB: db, Log: slog.New(slog.NewTextHandler(&d.log, nil)), Metrics: d.reg, Now: d.clock.Now})
	for _, id := range accounts {
		d.exec("INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ($1, $1, 'free', '', 0, 1) ON CONFLICT DO NOTHING", id)
	}
	return d
}

func eachFixture(t *testing.T, do func(t *testing.T, d *outboxFixture)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { do(t, newFixture(t, db)) })
}

func (d *outboxFixture) exec(statement string, args ...any) {
	d.t.Helper()
	if err := d.DB.Update(context.Background(), func(tx *sqlstore.Tx) error { _, err := tx.Exec(statement, args...); return err }); err != nil {
		d.t.Fatal(err)
	}
}

func (d *outboxFixture) count(query string, args ...any) (n int) {
	d.t.Helper()
	if err := d.DB.View(context.Background()).QueryRow("SELECT count(*) FROM "+query, args...).Scan(&n); err != nil {
		d.t.Fatal(err)
	}
	return n
}

// appendEvent commits an event of an account.
func (d *outboxFixture) appendEvent(account string) (id string) {
	d.t.Helper()
	id, err := d.tryAppend(account)
	if err != nil {
		d.t.Fatal(err)
	}
	return id
}

func (d *outboxFixture) tryAppend(account string) (id string, err error) {
	err = d.DB.Update(context.Background(), func(tx *sqlstore.Tx) (err error) {
		id, err = d.Append(tx, account, schema.Live, schema.EventPaymentSucceeded, map[string]any{"of": account})
		return err
	})
	return id, err
}

// run runs the outbox until stop is called.
func (d *outboxFixture) run(to Publisher) (stop func()) {
	d.t.Helper()
	stop = fixture.Run(d.t, func(ctx context.Context) error { return d.Run(ctx, to) })
	return stop
}

// relay returns a relay that owns all partitions.
func (d *outboxFixture) relay(to Publisher) *relay {
	r := &relay{Outbox: d.Outbox, to: to}
	for p := range r.owned {
		r.owned[p] = true
	}
	return r
}

// owns returns the names of the leases of the partitions that the running relay owns.
func (d *outboxFixture) owns() (all []string) {
	d.t.Helper()
	families, err := d.reg.Gather()
	if err != nil {
		d.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "vayu_leader" && m.GetGauge().GetValue() == 1 {
				all = append(all, m.GetLabel()[0].GetValue())
			}
		}
	}
	return all
}

// metric returns the value of a counter or gauge, by its label if it has one.
func (d *outboxFixture) metric(name, label string) float64 {
	d.t.Helper()
	families, err := d.reg.Gather()
	if err != nil {
		d.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && (label == "" || m.GetLabel()[0].GetValue() == label) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	d.t.Errorf("there is no metric %s %s", name, label)
	return 0
}

func (d *outboxFixture) failures(step string) float64 {
	d.t.Helper()
	return d.metric("vayu_outbox_failures_total", step)
}

// reachable is embedded in publishers whose destination always replies.
type reachable struct{}

// Check implements Publisher.
func (reachable) Check(context.Context) error { return nil }

// memoryPublisher is a publisher in memory. refuse selects the events that it does not
// acknowledge.
type memoryPublisher struct {
	reachable

	mu      sync.Mutex
	refuse  func(e Event) bool
	err     error
	batches [][]string // ids in the order of arrival
	taken   []Event
	arrived chan struct{} // holds one: something was taken
}

func newMemoryPublisher() *memoryPublisher { return &memoryPublisher{arrived: make(chan struct{}, 1)} }

var errRefused = errors.New("the shelf is full")

// Publish implements Publisher; it keeps the order within accounts.
func (s *memoryPublisher) Publish(_ context.Context, batch []Event) ([]Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	var safe []Event
	held := map[string]bool{}
	for _, e := range batch {
		ids = append(ids, e.ID)
		if held[e.Account] || s.refuse != nil && s.refuse(e) {
			held[e.Account] = true
			continue
		}
		safe = append(safe, e)
	}
	s.batches = append(s.batches, ids)
	s.taken = append(s.taken, safe...)
	select {
	case s.arrived <- struct{}{}:
	default:
	}
	return safe, s.err
}

func (s *memoryPublisher) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// ids returns the acknowledged ids of an account, or of all for "".
func (s *memoryPublisher) ids(account string) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.taken {
		if account == "" || e.Account == account {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// await waits until all ids were acknowledged.
func (s *memoryPublisher) await(t testing.TB, ids ...string) {
	t.Helper()
	for {
		have := s.ids("")
		if !slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(have, id) }) {
			return
		}
		select {
		case <-s.arrived:
		case <-time.After(5 * time.Minute):
			t.Fatalf("%d of %d events came", len(s.ids("")), len(ids))
		}
	}
}
