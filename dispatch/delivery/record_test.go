package delivery_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/delivery"
	"vayu/dispatch/sender"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// stored is a stored delivery.
type stored struct {
	State    string
	Attempts int
	Due      int64
	Token    string
	Finished bool
}

// table reads all deliveries.
func table(t *testing.T, db *sqlstore.DB) map[string]stored {
	t.Helper()
	all := map[string]stored{}
	err := sqlstore.Each(db.View(t.Context()), func(row sqlstore.Scanner) error {
		var id string
		var s stored
		err := row.Scan(&id, &s.State, &s.Attempts, &s.Due, &s.Token, &s.Finished)
		if s.State != "waiting" {
			s.Due = 0
		}
		all[id] = s
		return err
	}, "SELECT id, state, attempts, due_at, token, finished_at IS NOT NULL FROM delivery")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// leased stores deliveries of new events to wh_1 with the lease token "mine".
func leased(t *testing.T, db *sqlstore.DB, n int) []delivery.Row {
	t.Helper()
	orders := make([]delivery.Draft, n)
	for i := range orders {
		orders[i] = delivery.Draft{Event: addEvent(t, db, "acc_1", schema.Live, fmt.Sprintf("evt_%03d", i)), Webhook: "wh_1", Lease: true}
	}
	return insert(t, db, orders, lease("mine", start.Add(time.Minute)), start)
}

func TestRecordStoresAttemptAndTransition(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, db *sqlstore.DB) {
		rows := leased(t, db, 4)
		sqlstoretest.Exec(t, db, "UPDATE delivery SET attempts = 7 WHERE id = $1", rows[2].ID)
		rows[2].Attempts = 7
		silent := outcome(&rows[3], "mine", 0, start)
		silent.Result = sender.Result{SentAt: start, Duration: 5 * time.Second, Stage: schema.StageWait, Error: "no answer within 5 s"}
		now := start.Add(time.Second)
		if stale := record(t, db, now, outcome(&rows[0], "mine", 200, start), outcome(&rows[1], "mine", 500, start), outcome(&rows[2], "mine", 410, start), silent); stale != 0 {
			t.Errorf("%d were stale", stale)
		}
		want := map[string]stored{
			rows[0].ID: {State: "delivered", Attempts: 1, Finished: true},
			rows[1].ID: {State: "waiting", Attempts: 1, Due: start.Add(10 * time.Second).UnixMicro()},
			rows[2].ID: {State: "failed", Attempts: 8, Finished: true},
			rows[3].ID: {State: "waiting", Attempts: 1, Due: start.Add(10 * time.Second).UnixMicro()},
		}
		if diff := cmp.Diff(want, table(t, db)); diff != "" {
			t.Errorf("the deliveries (-want +got):\n%s", diff)
		}
		all, err := sqlstore.All(db.View(t.Context()), func(row sqlstore.Scanner) (string, error) {
			var id, stage, fault string
			var number, at, took, status, recorded int64
			var body []byte
			err := row.Scan(&id, &number, &at, &took, &stage, &status, &fault, &body, &recorded)
			return fmt.Sprint(id == rows[2].ID, number, at == start.UnixMicro(), took, stage, status, fault, string(body), recorded == now.UnixMicro()), err
		}, "SELECT delivery_id, number, at, duration, stage, http_status, error, body, recorded_at FROM attempt ORDER BY delivery_id")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{
			fmt.Sprint(false, 1, true, 12345, "status", 200, "", "ok", true),
			fmt.Sprint(false, 1, true, 12345, "status", 500, "the answer was 500", "ok", true),
			fmt.Sprint(true, 8, true, 12345, "status", 410, "the answer was 410", "ok", true),
			fmt.Sprint(false, 1, true, 5000000, "wait", 0, "no answer within 5 s", "", true),
		}, all); diff != "" {
			t.Errorf("the attempts (-want +got):\n%s", diff)
		}
	})
}

func TestAnyErrorTextIsStored(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, db *sqlstore.DB) {
		rows := leased(t, db, 1)
		o := outcome(&rows[0], "mine", 500, start)
		o.Result.Error, o.Result.Body = "malformed \x00 \xff header", []byte{0, 0xff}
		record(t, db, start, o)
		if got := queryValue[string](t, db, "SELECT error FROM attempt"); got != "malformed \uFFFD \uFFFD header" {
			t.Errorf("got %q", got)
		}
	})
}

// A stale outcome is ignored, unless the receiver has acknowledged.
func TestStaleOutcomeIsIgnored(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, db *sqlstore.DB) {
		rows := leased(t, db, 4)
		over := start.Add(time.Minute)
		taken := claim(t, db, []delivery.LaneClaim{{Webhook: "wh_1", Limit: 3}}, lease("theirs", over.Add(time.Minute)), over)[0].Rows
		if stale := record(t, db, over, outcome(&rows[0], "mine", 500, start), outcome(&rows[1], "mine", 200, start)); stale != 1 {
			t.Errorf("%d were stale, want the 500", stale)
		}
		// The second was finished by another instance. The third has two outcomes in one
		// group, the older first. The fourth was never claimed.
		if stale := record(t, db, over, outcome(&taken[1], "theirs", 503, over), outcome(&rows[2], "mine", 500, start), outcome(&taken[2], "theirs", 500, over),
			outcome(&rows[3], "mine", 500, start)); stale != 2 {
			t.Errorf("%d were stale, want the 503 and the older 500", stale)
		}
		want := map[string]stored{
			rows[0].ID: {State: "waiting", Token: "theirs", Due: over.Add(time.Minute).UnixMicro()},
			rows[1].ID: {State: "delivered", Attempts: 1, Finished: true},
			rows[2].ID: {State: "waiting", Attempts: 1, Due: over.Add(10 * time.Second).UnixMicro()},
			rows[3].ID: {State: "waiting", Attempts: 1, Due: start.Add(10 * time.Second).UnixMicro()},
		}
		if diff := cmp.Diff(want, table(t, db)); diff != "" {
			t.Errorf("the deliveries (-want +got):\n%s", diff)
		}
		if n := queryValue[int](t, db, "SELECT count(*) FROM attempt"); n != 3 {
			t.Errorf("%d attempts, want 3", n)
		}
	})
}

// An acknowledgement wins, in either order.
func TestAcknowledgementWinsWithinGroup(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, db *sqlstore.DB) {
		rows := leased(t, db, 2)
		over := start.Add(time.Minute)
		taken := claim(t, db, []delivery.LaneClaim{{Webhook: "wh_1", Limit: 2}}, lease("theirs", over.Add(time.Minute)), over)[0].Rows
		stale := record(t, db, over, outcome(&rows[0], "mine", 200, start), outcome(&taken[0], "theirs", 500, over),
			outcome(&taken[1], "theirs", 500, over), outcome(&rows[1], "mine", 200, start))
		if stale != 1 {
			t.Errorf("%d were stale, want 1", stale)
		}
		for id, got := range table(t, db) {
			if got.State != "delivered" {
				t.Errorf("%s is %+v", id, got)
			}
		}
		if n := queryValue[int](t, db, "SELECT count(*) FROM attempt WHERE delivery_id = $1", rows[1].ID); n != 2 {
			t.Errorf("%d attempts, want the one that was not answered and the one that was", n)
		}
	})
}

func TestAcknowledgementCountsForDeletedWebhook(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, db *sqlstore.DB) {
		rows := leased(t, db, 1)
		sqlstoretest.Exec(t, db, "UPDATE webhook SET deleted_at = 1")
		if stale := record(t, db, start, outcome(&rows[0], "mine", 200, start)); stale != 0 {
			t.Error("an acknowledgement for a deleted subscription did not count")
		}
	})
}

func TestLanesHaveWaitingDeliveries(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, db *sqlstore.DB) {
		lanes := func() []delivery.Lane {
			all, err := delivery.Lanes(db.View(t.Context()))
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		if got := lanes(); got != nil {
			t.Errorf("nothing waits, and got %v", got)
		}
		rows := leased(t, db, 3)
		e := addEvent(t, db, "acc_1", schema.Live, "evt_other")
		insert(t, db, []delivery.Draft{{Event: e, Webhook: "wh_2"}}, lease("", start), start)
		record(t, db, start, outcome(&rows[0], "mine", 500, start))
		want := []delivery.Lane{{Webhook: "wh_1", Next: start.Add(10 * time.Second)}, {Webhook: "wh_2", Next: start}}
		if diff := cmp.Diff(want, lanes()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		record(t, db, start, outcome(&rows[1], "mine", 200, start), outcome(&rows[2], "mine", 200, start))
		sqlstoretest.Exec(t, db, "UPDATE delivery SET state = 'cancelled' WHERE webhook_id = 'wh_2'")
		if diff := cmp.Diff(want[:1], lanes()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
