package delivery_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/delivery"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// eachStore runs a test on both engines, with an account and two subscriptions.
func eachStore(t *testing.T, do func(t *testing.T, db *sqlstore.DB)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		addAccount(t, db, "acc_1")
		addWebhook(t, db, "acc_1", schema.Live, "wh_1")
		addWebhook(t, db, "acc_1", schema.Live, "wh_2")
		do(t, db)
	})
}

// ids returns the ids of rows.
func ids(rows []delivery.Row) (all []string) {
	for _, r := range rows {
		all = append(all, r.ID)
	}
	return all
}

func TestInsertIsIdempotent(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, db *sqlstore.DB) {
		var orders []delivery.Draft
		for i := range 70 { // more than one statement
			e := addEvent(t, db, "acc_1", schema.Live, fmt.Sprintf("evt_%02d", i))
			orders = append(orders, delivery.Draft{Event: e, Webhook: "wh_1", Lease: i%2 == 0}, delivery.Draft{Event: e, Webhook: "wh_2"})
		}
		l := lease("token", start.Add(time.Minute))
		before := insert(t, db, orders[30:50], l, start)
		rows := insert(t, db, orders, l, start.Add(time.Second))
		if len(before) != 5 || len(rows) != 30 {
			t.Fatalf("%d and %d were leased, want 5 and 30", len(before), len(rows))
		}
		for i, r := range rows {
			want := delivery.Row{
				ID: r.ID, Webhook: "wh_1", EventID: r.EventID, Type: schema.EventPaymentSucceeded, World: schema.Live,
				DueAt: start.Add(time.Second), Envelope: r.Envelope, Happened: orders[0].Event.CreatedAt,
			}
			if diff := cmp.Diff(want, r); diff != "" || i > 0 && r.ID <= rows[i-1].ID {
				t.Errorf("row %d (-want +got):\n%s", i, diff)
			}
		}
		if &rows[0].Envelope[0] != &orders[0].Event.Envelope[0] {
			t.Error("the bytes of an envelope were copied")
		}
		if again := insert(t, db, orders, l, start.Add(2*time.Second)); again != nil {
			t.Errorf("the third time %d were leased", len(again))
		}
		if n := queryValue[int](t, db, "SELECT count(*) FROM delivery"); n != 140 {
			t.Errorf("%d deliveries, want 140", n)
		}
		if n := queryValue[int](t, db, "SELECT count(*) FROM delivery WHERE token = 'token' AND due_at = $1", l.Until.UnixMicro()); n != 35 {
			t.Errorf("%d leases in the store, want 35", n)
		}
		if got := insert(t, db, nil, l, start); got != nil {
			t.Errorf("nothing became %v", got)
		}
	})
}

func TestClaimLeasesDueDeliveries(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, db *sqlstore.DB) {
		event := addEvent(t, db, "acc_1", schema.Live, "evt_both")
		late := addEvent(t, db, "acc_1", schema.Live, "evt_late")
		insert(t, db, []delivery.Draft{{Event: late, Webhook: "wh_1"}}, lease("", start), start.Add(time.Second))
		insert(t, db, []delivery.Draft{{Event: event, Webhook: "wh_1"}, {Event: event, Webhook: "wh_2"}}, lease("", start), start)
		l := lease("one", start.Add(time.Minute))
		wants := []delivery.LaneClaim{{Webhook: "wh_1", Limit: 10}, {Webhook: "wh_2", Limit: 10}, {Webhook: "wh_none", Limit: 1}}
		got := claim(t, db, wants, l, start)
		switch {
		case len(got) != 3:
			t.Fatalf("len(got) = %v, want 3", len(got))
		case len(got[0].Rows) != 1:
			t.Fatalf("len(got[0].Rows) = %v, want 1", len(got[0].Rows))
		case len(got[1].Rows) != 1:
			t.Fatalf("len(got[1].Rows) = %v, want 1", len(got[1].Rows))
		case len(got[2].Rows) != 0:
			t.Fatalf("len(got[2].Rows) = %v, want 0", len(got[2].Rows))
		}
		want := delivery.Row{
			ID: got[0].Rows[0].ID, Webhook: "wh_1", EventID: "evt_both", Type: schema.EventPaymentSucceeded,
			DueAt: start, Envelope: event.Envelope, Happened: event.CreatedAt,
		}
		if diff := cmp.Diff(want, got[0].Rows[0]); diff != "" {
			t.Errorf("the row (-want +got):\n%s", diff)
		}
		if &got[0].Rows[0].Envelope[0] != &got[1].Rows[0].Envelope[0] {
			t.Error("two deliveries of one event do not share its bytes")
		}
		for i, next := range []time.Time{start.Add(time.Second), {}, {}} {
			if !got[i].Next.Equal(next) {
				t.Errorf("lane %d: next is %s, want %s", i, got[i].Next, next)
			}
		}
		// One is claimed while another is due; the other's past due time is next.
		insert(t, db, []delivery.Draft{{Event: late, Webhook: "wh_2"}, {Event: addEvent(t, db, "acc_1", schema.Live, "evt_3"), Webhook: "wh_2"}}, l, start)
		got = claim(t, db, []delivery.LaneClaim{{Webhook: "wh_2", Limit: 1}}, lease("two", start.Add(time.Minute)), start.Add(time.Second))
		if len(got[0].Rows) != 1 || got[0].Rows[0].EventID != "evt_late" || !got[0].Next.Equal(start) {
			t.Errorf("got %+v", got[0])
		}
		// The end of a lease is next for others, which can then claim the row.
		got = claim(t, db, wants[:1], lease("three", start.Add(2*time.Minute)), start.Add(2*time.Second))
		if ids(got[0].Rows) == nil || got[0].Rows[0].EventID != "evt_late" || !got[0].Next.Equal(l.Until) {
			t.Errorf("got %+v", got[0])
		}
		got = claim(t, db, wants[:1], lease("four", start.Add(3*time.Minute)), l.Until)
		if len(got[0].Rows) != 1 || got[0].Rows[0].EventID != "evt_both" || !got[0].Rows[0].DueAt.Equal(l.Until) {
			t.Errorf("got %+v", got[0])
		}
	})
}

func TestClaimKeepsWorld(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, db *sqlstore.DB) {
		addWebhook(t, db, "acc_1", schema.Sandbox, "wh_sandbox")
		e := addEvent(t, db, "acc_1", schema.Sandbox, "evt_sandbox")
		insert(t, db, []delivery.Draft{{Event: e, Webhook: "wh_sandbox"}}, lease("", start), start)
		if got := claim(t, db, []delivery.LaneClaim{{Webhook: "wh_sandbox", Limit: 1}}, lease("t", start.Add(time.Minute)), start); got[0].Rows[0].World != schema.Sandbox {
			t.Errorf("got %+v", got)
		}
	})
}

func TestReleaseRestoresDueTime(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, db *sqlstore.DB) {
		var orders []delivery.Draft
		for i := range 3 {
			orders = append(orders, delivery.Draft{Event: addEvent(t, db, "acc_1", schema.Live, fmt.Sprint("evt_", i)), Webhook: "wh_1", Lease: true})
		}
		rows := insert(t, db, orders, lease("mine", start.Add(time.Minute)), start)
		// The second is leased by another claim, the third is finished.
		sqlstoretest.Exec(t, db, "UPDATE delivery SET due_at = $1, token = 'theirs' WHERE id = $2", start.Add(time.Hour).UnixMicro(), rows[1].ID)
		if stale := record(t, db, start, outcome(&rows[2], "mine", 204, start)); stale != 0 {
			t.Error("an outcome in its lease was stale")
		}
		do(t, db, func(tx *sqlstore.Tx) error { return delivery.Release(tx, "mine", rows) })
		got := claim(t, db, []delivery.LaneClaim{{Webhook: "wh_1", Limit: 9}}, lease("next", start.Add(2*time.Hour)), start)
		if diff := cmp.Diff([]string{rows[0].ID}, ids(got[0].Rows)); diff != "" || !got[0].Rows[0].DueAt.Equal(start) {
			t.Errorf("due again (-want +got):\n%s, at %s", diff, got[0].Rows[0].DueAt)
		}
	})
}

// Goroutines of two instances claim concurrently until nothing is left.
func TestConcurrentClaimsAreDisjoint(t *testing.T) {
	t.Parallel()
	stores := map[string]func(t *testing.T) []*sqlstore.DB{
		"sqlite": func(t *testing.T) []*sqlstore.DB { db := sqlstoretest.SQLite(t); return []*sqlstore.DB{db, db} },
		"postgres": func(t *testing.T) []*sqlstore.DB {
			c := sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t), Settings: sqlstore.Settings{Connections: 4}}
			return []*sqlstore.DB{sqlstoretest.Open(t, c), sqlstoretest.Open(t, c)}
		},
	}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := open(t)
			addAccount(t, all[0], "acc_1")
			addWebhook(t, all[0], "acc_1", schema.Live, "wh_1")
			addWebhook(t, all[0], "acc_1", schema.Live, "wh_2")
			var orders []delivery.Draft
			for i := range 300 {
				e := addEvent(t, all[0], "acc_1", schema.Live, fmt.Sprint("evt_", i))
				orders = append(orders, delivery.Draft{Event: e, Webhook: "wh_1"}, delivery.Draft{Event: e, Webhook: "wh_2"})
			}
			insert(t, all[0], orders, lease("", start), start)
			var mu sync.Mutex
			var got []string
			var claimers sync.WaitGroup
			for i := range 4 {
				claimers.Go(func() {
					for round := 0; ; round++ {
						l := lease(fmt.Sprint(i, "/", round), start.Add(time.Hour))
						var found []delivery.Claimed
						err := all[i%2].Update(context.Background(), func(tx *sqlstore.Tx) (err error) {
							found, err = delivery.Claim(tx, []delivery.LaneClaim{{Webhook: "wh_1", Limit: 7}, {Webhook: "wh_2", Limit: 7}}, l, start)
							return err
						})
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						got = append(append(got, ids(found[0].Rows)...), ids(found[1].Rows)...)
						mu.Unlock()
						if left := func(c delivery.Claimed) bool { return c.Next.Before(l.Until) && !c.Next.IsZero() }; !left(found[0]) && !left(found[1]) {
							return
						}
					}
				})
			}
			claimers.Wait()
			slices.Sort(got)
			if n := len(slices.Compact(slices.Clone(got))); len(got) != 600 || n != 600 {
				t.Errorf("%d were claimed, %d different ones; want 600", len(got), n)
			}
		})
	}
}

// wantOf claims all due deliveries of a lane.
func wantOf(webhook string) []delivery.LaneClaim {
	return []delivery.LaneClaim{{Webhook: webhook, Limit: 1000}}
}
