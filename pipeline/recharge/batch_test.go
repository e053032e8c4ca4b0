package recharge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/batch"
	"vayu/pipeline/batch/item"
	"vayu/pipeline/recharge"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/sandbox"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

const aBatch = "rbt_01KAJ0C4E6G8J0M2P4R6T8V0X2"

// insertBatch stores a batch whose records are about to begin.
func (d *apiFixture) insertBatch(w schema.World, total int) {
	d.t.Helper()
	sqlstoretest.Exec(d.t, d.DB, `INSERT INTO batch (id, account_id, mode, kind, ref_id, fingerprint, state, total, successful, failed, key_id, request_id, client, created_at)
		VALUES ($1, $2, $3, 'recharge', NULL, $4, 'processing', $5, 0, 0, 'key_1', 'req_1', '', 0)`,
		aBatch, d.tenant.ID, w.String(), []byte("x"), total)
}

// item returns a record of the batch.
func (d *apiFixture) item(w schema.World, index int, record string) item.Item {
	return item.Item{Batch: aBatch, Index: index, Owner: d.tenant.In(w), Record: []byte(record), Key: "key_1", Request: "req_1"}
}

// itemOutcomes returns the outcome of each item, and the error codes of rejected ones.
func (d *apiFixture) itemOutcomes() (all map[int]string) {
	d.t.Helper()
	all = map[int]string{}
	err := sqlstore.Each(d.DB.View(d.t.Context()), func(row sqlstore.Scanner) error {
		var place int
		var outcome, subject string
		var refusal []byte
		if err := row.Scan(&place, &outcome, &subject, &refusal); err != nil {
			return err
		}
		var why struct{ Error schema.Problem }
		if refusal != nil {
			if err := json.Unmarshal(refusal, &why); err != nil {
				return err
			}
			outcome += " " + string(why.Error.Code) + " " + why.Error.Field
		}
		if (subject == "") != (refusal != nil) {
			d.t.Errorf("record %d became %q and %s", place, subject, refusal)
		}
		all[place] = outcome
		return nil
	}, "SELECT place, outcome, subject, refusal FROM batch_item WHERE batch_id = $1 ORDER BY place", aBatch)
	if err != nil {
		d.t.Fatal(err)
	}
	return all
}

func TestBatchItemsBecomeRecharges(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		good := orderFor("9000000001", "a", "20")
		single := d.sandboxRequest("POST", "/v1/recharge", orderFor("9000000001", "taken", "20")).Want(t, "a single one", 200).TextAt("transaction_id")
		records := []string{
			good,
			strings.Replace(good, "prepaid", "postpaid", 1),
			`{"ref_id":"b"}`,
			`17`,
			good, // the same ref_id again
			orderFor("9000000001", "taken", "20"),
			orderFor("9000000004", "c", "20"),
			orderFor("9000000001", "d", "9999"),
			strings.Replace(orderFor("9000000001", "e", "20"), "prepaid", "dth", 1),
		}
		d.insertBatch(schema.Sandbox, len(records))
		kind := d.BatchKind()
		for range 2 { // a record that comes again changes nothing
			for i, record := range records {
				if err := kind.Do(t.Context(), d.item(schema.Sandbox, i, record)); err != nil {
					t.Errorf("%s: %v", record, err)
				}
			}
		}
		want := map[int]string{
			0: "successful", 1: "failed unsupported_type type", 2: "failed invalid_request type", 3: "failed invalid_request ", 4: "failed duplicate_ref_id ref_id",
			5: "failed duplicate_ref_id ref_id", 6: "failed", 7: "failed", 8: "failed operator_not_detected operator",
		}
		if diff := cmp.Diff(want, d.itemOutcomes()); diff != "" {
			t.Errorf("the records became (-want +got):\n%s", diff)
		}
		list := read[schema.List[schema.Recharge]](t, d.sandboxRequest("GET", "/v1/recharge?batch_id="+aBatch, ""), 200)
		var ids []string
		for _, r := range list.Data {
			ids = append(ids, r.TransactionID)
			if r.BatchID != aBatch {
				t.Errorf("got %+v", r)
			}
		}
		if len(ids) != 3 {
			t.Fatalf("there are %d recharges of the batch: %+v", len(ids), list.Data)
		}
		if slices.Contains(ids, single) {
			t.Errorf("%s is none of the batch's", single)
		}
		d.wantShown(kind, len(records), list.Data)
	})
}

// wantShown checks that a batch kind renders recharges as lists do, and only those of the
// owner.
func (d *apiFixture) wantShown(kind item.Kind, total int, want []schema.Recharge) {
	d.t.Helper()
	all, err := kind.Render(d.DB.View(d.t.Context()), d.tenant.In(schema.Sandbox), aBatch, 0, total)
	if err != nil || len(all) != len(want) {
		d.t.Fatalf("got %d, %v", len(all), err)
	}
	for _, r := range want {
		if diff := cmp.Diff(any(r), all[r.TransactionID]); diff != "" {
			d.t.Errorf("shown (-want +got):\n%s", diff)
		}
	}
	for what, o := range map[string]schema.Owner{"another account": {Account: "acc_other", World: schema.Sandbox}, "the other world": d.tenant.In(schema.Live)} {
		if all, err := kind.Render(d.DB.View(d.t.Context()), o, aBatch, 0, total); err != nil || len(all) != 0 {
			d.t.Errorf("%s sees %v, %v", what, all, err)
		}
	}
}

// A record is retried while its operator is unavailable.
func TestItemIsRetriedWhileOperatorUnavailable(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		d.insertBatch(schema.Live, 1)
		sqlstoretest.Exec(t, d.DB, "UPDATE batch SET created_at = $1", time.Now().UnixMicro())
		kind := d.BatchKind()
		item := d.item(schema.Live, 0, strings.Replace(orderFor("9876543210", "a", "20"), "auto", "Airtel", 1))
		d.pending.closed.Store(true)
		err := kind.Do(t.Context(), item)
		if p, ok := errors.AsType[*schema.Problem](err); !ok {
			t.Errorf("got %v, want a problem", err)
		} else if p.Code != schema.OperatorUnavailable {
			t.Errorf("code = %s, want %s", p.Code, schema.OperatorUnavailable)
		}
		if got := d.itemOutcomes(); len(got) != 0 {
			t.Errorf("it became %v", got)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		d.pending.closed.Store(false)
		if err := kind.Do(gone, item); err == nil {
			t.Error("it was begun although its context had ended")
		}
		if err := kind.Do(t.Context(), item); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(map[int]string{0: "begun"}, d.itemOutcomes()); diff != "" { // the provider leaves it pending
			t.Error(diff)
		}
	})
}

// A record is rejected if no provider serves its operator, or if the operator was
// unavailable for a day. Then the batch can complete.
func TestItemRetriesAreBounded(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		d.insertBatch(schema.Live, 3)
		made := func(ago time.Duration) {
			sqlstoretest.Exec(t, d.DB, "UPDATE batch SET created_at = $1", time.Now().Add(-ago).UnixMicro())
		}
		kind := d.BatchKind()
		record := func(i int, operator string) item.Item {
			return d.item(schema.Live, i, strings.Replace(orderFor("9876543210", fmt.Sprint("r", i), "20"), "auto", operator, 1))
		}
		made(0)
		if err := kind.Do(t.Context(), record(0, "BSNL")); err != nil {
			t.Error(err)
		}
		d.pending.closed.Store(true)
		made(maxRetryAge - time.Minute)
		if err := kind.Do(t.Context(), record(1, "Airtel")); err == nil {
			t.Error("a record is not retried after less than a day")
		}
		made(maxRetryAge + time.Minute)
		if err := kind.Do(t.Context(), record(2, "Airtel")); err != nil {
			t.Error(err)
		}
		want := map[int]string{0: "failed operator_unavailable operator", 2: "failed operator_unavailable "}
		if diff := cmp.Diff(want, d.itemOutcomes()); diff != "" {
			t.Errorf("the records became (-want +got):\n%s", diff)
		}
		reply := d.liveRequest("POST", "/v1/recharge", strings.Replace(orderFor("9876543210", "single", "20"), "auto", "BSNL", 1))
		reply.WantError(t, "unserved operator", 503, schema.OperatorUnavailable, "operator")
		if reply.At("error.retryable") == true || reply.Header.Get("Retry-After") != "" {
			t.Errorf("got %v %s", reply.Header, reply.Text)
		}
	})
}

// maxAge is the time for which records are retried.
const maxRetryAge = 24 * time.Hour

// A running service processes all records except the invalid one.
func TestRunProcessesBatch(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		const total = 48
		records := make([]string, total)
		for i := range records {
			records[i] = orderFor("9000000001", fmt.Sprint("b", i), "10")
		}
		records[7] = strings.Replace(records[7], "10,", "1,", 1)
		s, err := batch.New(batch.Config{DB: d.DB, Cipher: d.Cipher, Change: d.access.Change, Kinds: []item.Kind{d.BatchKind()}})
		if err != nil {
			t.Fatal(err)
		}
		door := d.with(s.Routes()...)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()
		key := d.tenant.Keys[schema.Sandbox]
		id := door.Do(key, "POST", "/v1/recharge/batch", `{"recharges":[`+strings.Join(records, ",")+`]}`).Want(t, "a batch", 202).TextAt("batch_id")
		until(t, func() bool { return door.Do(key, "GET", "/v1/recharge/batch/"+id, "").TextAt("state") == "completed" })
		done := door.Do(key, "GET", "/v1/recharge/batch/"+id, "")
		if done.At("successful") != float64(total-1) || done.At("failed") != 1.0 {
			t.Errorf("got %s", done.Text)
		}
		door.Do(key, "GET", "/v1/recharge/batch/"+id+"/results?limit=1000", "").Want(t, "results", 200)
		if got := d.listAll(key, "/v1/recharge?limit=10&batch_id="+id); len(got) != total-1 {
			t.Errorf("%d are listed", len(got))
		}
	})
}

// until polls until is returns true.
func until(t *testing.T, is func() bool) {
	t.Helper()
	limit := time.After(5 * time.Minute)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for !is() {
		select {
		case <-look.C:
		case <-limit:
			t.Fatal("the condition did not become true")
		}
	}
}

// Without a configured provider a batch is rejected at once, like a single recharge, and
// nothing is stored.
func TestBatchWithoutProviderIsRejected(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		only, err := recharge.New(recharge.Config{
			Options: transaction.Options{DB: d.DB, Cipher: d.Cipher, Events: d.Events}, Settings: recharge.Settings{BatchRoom: 8}, Connections: []order.Connection{sandbox.Connection(nil)},
		})
		if err != nil {
			t.Fatal(err)
		}
		s, err := batch.New(batch.Config{DB: d.DB, Cipher: d.Cipher, Change: d.access.Change, Kinds: []item.Kind{only.BatchKind()}})
		if err != nil {
			t.Fatal(err)
		}
		body := `{"recharges":[` + orderFor("9000000001", "b", "10") + `]}`
		door := d.with(s.Routes()...)
		door.Do(d.tenant.Keys[schema.Live], "POST", "/v1/recharge/batch", body).WantError(t, "a live batch", 503, schema.OperatorUnavailable, "operator")
		door.Do(d.tenant.Keys[schema.Sandbox], "POST", "/v1/recharge/batch", body).Want(t, "one of the sandbox", 202)
		var n int
		if err := d.DB.View(t.Context()).QueryRow("SELECT COUNT(*) FROM batch").Scan(&n); err != nil || n != 1 {
			t.Errorf("%d batches are stored, %v; want that of the sandbox", n, err)
		}
	})
}
