package delivery_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/delivery"
	"vayu/dispatch/outbox"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/sse"
	"vayu/internal/workqueue"
	"vayu/schema"
)

func TestFeedFindsChangedDeliveries(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		for _, account := range []string{"acc_a", "acc_b"} {
			sqlstoretest.Exec(t, db, "INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ($1, $1, 'free', '', 0, 1)", account)
			sqlstoretest.Exec(t, db, `INSERT INTO webhook (id, account_id, mode, url, events, active, api_version, secret, secret_last4, created_at, revision)
				VALUES ($1, $2, 'live', '', '', 1, '', $3, '', 0, 1)`, "wh_"+account, account, []byte{})
			sqlstoretest.Exec(t, db, "INSERT INTO event (id, account_id, mode, type, created_at, envelope) VALUES ($1, $2, 'live', 'payment.succeeded', 0, $3)",
				"evt_"+account, account, []byte("{}"))
		}
		order := func(account string) delivery.Draft {
			return delivery.Draft{Webhook: "wh_" + account, Lease: true, Event: &outbox.Event{
				ID: "evt_" + account, Account: account, World: schema.Live, Type: schema.EventPaymentSucceeded,
			}}
		}
		noon := time.Date(2026, 11, 21, 6, 30, 0, 0, time.UTC)
		var rows []delivery.Row
		do(t, db, func(tx *sqlstore.Tx) (err error) {
			rows, err = delivery.Insert(tx, []delivery.Draft{order("acc_a"), order("acc_b")}, workqueue.Lease{Token: "t", Until: noon.Add(time.Minute)}, noon)
			return err
		})
		look := func(since time.Time) (all []schema.LiveDeliveryNotice) {
			found, err := delivery.Feed{DB: db}.Changes(t.Context(), []sse.Query{
				{Owner: schema.Owner{Account: "acc_a", World: schema.Live}, Since: since}, {Owner: schema.Owner{Account: "acc_a", World: schema.Sandbox}, Since: since},
			})
			if err != nil || len(found.Cut) != 0 {
				t.Fatalf("%v, cut: %v", err, found.Cut)
			}
			for _, n := range found.Notices {
				all = append(all, n.Data.(schema.LiveDeliveryNotice))
			}
			return all
		}
		want := schema.LiveDeliveryNotice{ID: rows[0].ID, WebhookID: "wh_acc_a", EventID: "evt_acc_a", State: schema.DeliveryWaiting}
		wantFound := func(since time.Time, want ...schema.LiveDeliveryNotice) {
			t.Helper()
			if diff := cmp.Diff(want, look(since)); diff != "" {
				t.Error(diff)
			}
		}
		wantFound(noon, want)
		wantFound(noon.Add(time.Second))
		later := noon.Add(10 * time.Second)
		do(t, db, func(tx *sqlstore.Tx) error {
			_, err := delivery.Record(tx, []delivery.Outcome{
				{Row: &rows[0], Token: "t", Transition: delivery.Transition{State: schema.DeliveryDelivered}},
				{Row: &rows[1], Token: "t", Transition: delivery.Transition{State: schema.DeliveryFailed}},
			}, later)
			return err
		})
		want.State, want.Attempts = schema.DeliveryDelivered, 1
		wantFound(noon, want)  // new and done
		wantFound(later, want) // done
		wantFound(later.Add(time.Second))
		sqlstoretest.Exec(t, db, "DELETE FROM attempt")
		sqlstoretest.Exec(t, db, "UPDATE delivery SET state = 'cancelled', attempts = 0")
		want.State, want.Attempts = schema.DeliveryCancelled, 0
		wantFound(later, want)
	})
}

func TestFeedUsesIndexes(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		insertWaiting(t, db, 20_000, 100)
		sqlstoretest.Exec(t, db, "ANALYZE")
		if db.Name() == "postgres" { // it sees the values, and takes the index that suits these
			wantPlan(t, db, delivery.SelectMade.ForRows(1), []any{1000, "acc_a", "live", firstID(t, time.Now())}, "Index")
			wantPlan(t, db, delivery.SelectEnded, []any{time.Now().UnixMicro(), 10_000}, "delivery_finished")
			return
		}
		var owners []any
		for range 16 {
			owners = append(owners, "acc_a", "live", firstID(t, time.Now()))
		}
		wantPlan(t, db, delivery.SelectMade.ForRows(16), append([]any{1000}, owners...), "delivery_account")
		wantPlan(t, db, delivery.SelectTried, []any{time.Now().UnixMicro(), 10_000}, "attempt_recorded")
		wantPlan(t, db, delivery.SelectEnded, []any{time.Now().UnixMicro(), 10_000}, "delivery_finished")
	})
}

// firstID returns the lowest id of a delivery created at a time.
func firstID(t *testing.T, at time.Time) string {
	t.Helper()
	id, ok := pagination.FirstID(delivery.IDPrefix, at.UnixMicro())
	if !ok {
		t.Fatalf("no id has the time %s", at)
	}
	return id
}
