package delivery_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"vayu/dispatch/delivery"
	"vayu/dispatch/outbox"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/workqueue"
	"vayu/schema"
)

// modelDelivery is a delivery of the model.
type modelDelivery struct {
	stored

	webhook string
}

// leasedRow is a row that a claimer has leased and not finished.
type leasedRow struct {
	row   delivery.Row
	token string
}

// model is the expected state of the store.
type model struct {
	t     *testing.T
	db    *sqlstore.DB
	rng   *rand.Rand
	now   time.Time
	all   map[string]*modelDelivery
	known map[string]string // id by event and subscription
	held  []leasedRow
	event int
	turn  int
}

// Random inserts, claims, outcomes, releases and clock steps on the store equal those of
// the model.
func TestStoreMatchesModel(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, db *sqlstore.DB) {
		for seed := range uint64(4) {
			sqlstoretest.Exec(t, db, "DELETE FROM attempt")
			sqlstoretest.Exec(t, db, "DELETE FROM delivery")
			m := &model{t: t, db: db, rng: rand.New(rand.NewPCG(seed, 1)), now: start, all: map[string]*modelDelivery{}, known: map[string]string{}, event: int(seed+1) * 1000}
			for step := range 120 {
				m.turn++
				m.now = m.now.Add(time.Duration(m.rng.IntN(40)) * time.Second)
				name := m.step()
				got := table(t, db)
				want := map[string]stored{}
				for id, d := range m.all {
					want[id] = d.stored
				}
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Fatalf("seed %d, after step %d, %s (-want +got):\n%s", seed, step, name, diff)
				}
			}
		}
	})
}

func (m *model) step() string {
	switch m.rng.IntN(5) {
	case 0:
		m.insert()
		return "insert"
	case 1, 2:
		m.claim()
		return "claim"
	case 3:
		m.record()
		return "record"
	default:
		m.release()
		return "release"
	}
}

// lease returns a new lease that often expires before the next step.
func (m *model) lease() workqueue.Lease {
	return lease(fmt.Sprint("token-", m.turn), m.now.Add(time.Duration(1+m.rng.IntN(90))*time.Second))
}

func (m *model) insert() {
	var orders []delivery.Draft
	l := m.lease()
	for range 1 + m.rng.IntN(20) {
		e := &outbox.Event{ID: fmt.Sprintf("evt_model_%06d", m.event-m.rng.IntN(3)), Account: "acc_1"}
		if queryValue[int](m.t, m.db, "SELECT count(*) FROM event WHERE id = $1", e.ID) == 0 {
			e = addEvent(m.t, m.db, "acc_1", schema.Live, e.ID)
		}
		if m.rng.IntN(2) == 0 {
			m.event++
		}
		orders = append(orders, delivery.Draft{Event: e, Webhook: fmt.Sprint("wh_", 1+m.rng.IntN(2)), Lease: m.rng.IntN(2) == 0})
	}
	leased := insert(m.t, m.db, orders, l, m.now)
	for _, o := range orders {
		key := o.Event.ID + " " + o.Webhook
		if m.known[key] != "" {
			continue
		}
		id := queryValue[string](m.t, m.db, "SELECT id FROM delivery WHERE event_id = $1 AND webhook_id = $2", o.Event.ID, o.Webhook)
		m.known[key] = id
		d := &modelDelivery{stored: stored{State: "waiting", Due: m.now.UnixMicro()}, webhook: o.Webhook}
		if o.Lease {
			d.Due, d.Token = l.Until.UnixMicro(), l.Token
			if len(leased) == 0 || leased[0].ID != id {
				m.t.Fatalf("%s was not leased: %+v", id, leased)
			}
			m.held = append(m.held, leasedRow{leased[0], l.Token})
			leased = leased[1:]
		}
		m.all[id] = d
	}
	if len(leased) > 0 {
		m.t.Errorf("leased too: %v", ids(leased))
	}
}

// due returns the ids of a lane that can be claimed, in order.
func (m *model) due(webhook string) (all []string) {
	for id, d := range m.all {
		if d.webhook == webhook && d.State == "waiting" && d.Due <= m.now.UnixMicro() {
			all = append(all, id)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(m.all[a].Due, m.all[b].Due), cmp.Compare(a, b))
	})
	return all
}

func (m *model) claim() {
	l := m.lease()
	wants := []delivery.LaneClaim{{Webhook: "wh_1", Limit: m.rng.IntN(25)}, {Webhook: "wh_2", Limit: m.rng.IntN(5)}}
	for i, got := range claim(m.t, m.db, wants, l, m.now) {
		want := m.due(wants[i].Webhook)
		want = want[:min(len(want), wants[i].Limit)]
		if diff := gocmp.Diff(want, append([]string{}, ids(got.Rows)...)); diff != "" && len(want)+len(got.Rows) > 0 {
			m.t.Errorf("claimed of %s (-want +got):\n%s", wants[i].Webhook, diff)
		}
		for _, r := range got.Rows {
			d := m.all[r.ID]
			if r.DueAt.UnixMicro() != d.Due || r.Attempts != d.Attempts {
				m.t.Errorf("got %+v, want %+v", r, d)
			}
			d.Due, d.Token = l.Until.UnixMicro(), l.Token
			m.held = append(m.held, leasedRow{r, l.Token})
		}
		if next := m.next(wants[i].Webhook, l.Token); !got.Next.Equal(next) {
			m.t.Errorf("%s: next is %s, want %s", wants[i].Webhook, got.Next, next)
		}
	}
}

func (m *model) next(webhook, token string) (next time.Time) {
	for d := range maps.Values(m.all) {
		if at := time.UnixMicro(d.Due); d.webhook == webhook && d.State == "waiting" && d.Token != token && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// some returns some of the leased rows.
func (m *model) some() (taken []leasedRow) {
	m.rng.Shuffle(len(m.held), func(i, j int) { m.held[i], m.held[j] = m.held[j], m.held[i] })
	n := m.rng.IntN(len(m.held) + 1)
	taken, m.held = m.held[:n:n], m.held[n:]
	return taken
}

func (m *model) record() {
	var outcomes []delivery.Outcome
	stale := 0
	for _, h := range m.some() {
		status := []int{200, 500, 500}[m.rng.IntN(3)]
		o := outcome(&h.row, h.token, status, m.now)
		outcomes = append(outcomes, o)
		d := m.all[h.row.ID]
		if d.State != "waiting" || d.Token != h.token && status != 200 {
			stale++
			continue
		}
		d.stored = stored{State: string(o.State), Attempts: d.Attempts + 1, Finished: o.State != schema.DeliveryWaiting}
		if !d.Finished {
			d.Due = o.DueAt.UnixMicro()
		}
	}
	if got := record(m.t, m.db, m.now, outcomes...); got != stale {
		m.t.Errorf("%d were stale, want %d", got, stale)
	}
	attempts := 0
	for d := range maps.Values(m.all) {
		attempts += d.Attempts
	}
	if got := queryValue[int](m.t, m.db, "SELECT count(*) FROM attempt"); got != attempts {
		m.t.Errorf("%d attempts in the store, want %d", got, attempts)
	}
}

func (m *model) release() {
	byToken := map[string][]delivery.Row{}
	for _, h := range m.some() {
		byToken[h.token] = append(byToken[h.token], h.row)
		if d := m.all[h.row.ID]; d.State == "waiting" && d.Token == h.token {
			d.Due, d.Token = h.row.DueAt.UnixMicro(), ""
		}
	}
	for token, rows := range byToken {
		do(m.t, m.db, func(tx *sqlstore.Tx) error { return delivery.Release(tx, token, rows) })
	}
}
