package batch_test

import (
	"context"
	"sync/atomic"
	"testing"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/batch"
	"vayu/pipeline/batch/item"
)

// Records that cannot begin are retried until they can. Each begins once.
func TestRecordsAreRetriedUntilTheyBegin(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 16, func(t *testing.T, s *batchFixture) {
		var tried atomic.Int64
		s.before = func(context.Context, item.Item) error {
			if tried.Add(1) < 40 {
				return errAway
			}
			return nil
		}
		id := s.post(s.a, records(250, "{}"))
		stop := s.run()
		s.wait(id)
		stop()
		s.wantDoneOnce(id, 250, 0)
		if got := s.metric("vayu_batch_records_total", "outcome", "again"); got != 39 {
			t.Errorf("%v are counted as retried, want 39", got)
		}
		if got := s.log.Count("cannot begin"); got == 0 || got > 39 {
			t.Errorf("it is logged %d times", got)
		}
	})
}

// A record that can never begin, or that panics, does not block other records or batches.
func TestFailingRecordDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 4, func(t *testing.T, s *batchFixture) {
		var heal atomic.Bool
		s.before = func(_ context.Context, item item.Item) error {
			switch {
			case string(item.Record) == `"poison"` && !heal.Load():
				return errAway
			case string(item.Record) == `"panic"` && !heal.Load():
				panic("a record")
			}
			return nil
		}
		stuck := s.post(s.a, `["poison","panic",`+records(248, `{}`)[1:])
		next, others := s.post(s.a, records(250, `{}`)), s.post(s.b, records(250, `{}`))
		stop := s.run()
		for waiting := map[string]bool{next: true, others: true}; len(waiting) > 0; {
			delete(waiting, (<-s.finished).ID)
		}
		if got := sqlstoretest.Value[int](t, s.DB, "SELECT successful FROM batch WHERE id = $1", stuck); got != 248 {
			t.Errorf("%d of the others are done, want 248", got)
		}
		heal.Store(true)
		s.wait(stuck)
		stop()
		s.wantDoneOnce(stuck, 248, 2) // they are no objects
		if s.log.Count("msg=panic") == 0 {
			t.Error("the panic was not logged")
		}
	})
}

// If Do returns nil without processing a record, the record is retried.
func TestRecordWithoutItemIsRetried(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 4, func(t *testing.T, s *batchFixture) {
		var lied atomic.Bool
		s.lies = func(item item.Item) bool { return item.Index == 7 && !lied.Swap(true) }
		id := s.post(s.a, records(20, "{}"))
		stop := s.run()
		s.wait(id)
		stop()
		s.wantDoneOnce(id, 20, 0)
		if got := s.metric("vayu_batch_failures_total", "kind", "recharge"); got != 1 {
			t.Errorf("%v failures are counted", got)
		}
	})
}

// Failures of the store are counted and retried; nothing is lost.
func TestStoreFailuresAreRetried(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 4, func(t *testing.T, s *batchFixture) {
		rename := func(from, to string) {
			sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error {
				_, err := tx.Exec("ALTER TABLE " + from + " RENAME TO " + to)
				return err
			})
		}
		id := s.post(s.a, records(250, "{}"))
		rename("batch_chunk", "gone")
		stop := s.run()
		s.waitLogged("does not answer")
		rename("gone", "batch_chunk")
		s.wait(id)
		stop()
		s.wantDoneOnce(id, 250, 0)
		if s.log.Count("does not answer") != 1 || s.log.Count("answers again") != 1 {
			t.Errorf("the log has %s", s.log.String())
		}
	})
}

// Tampered records are counted, and retried once they are repaired.
func TestUnreadableRecordsAreRetried(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 4, func(t *testing.T, s *batchFixture) {
		bad, good := s.post(s.a, records(3, "{}")), s.post(s.a, records(3, "{}"))
		set := func(text string) {
			sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error {
				_, err := tx.Exec("UPDATE batch_chunk SET records = $2 WHERE batch_id = $1", bad, batch.EncryptChunk(accesstest.Cipher(t), bad, 0, []byte(text)))
				return err
			})
		}
		set("{},{")
		stop := s.run()
		s.wait(good)
		stop()
		if got := s.metric("vayu_batch_failures_total"); got == 0 {
			t.Error("nothing is counted")
		}
		set("{},{},{}")
		s.run()
		s.wait(bad)
	})
}

// Begin, Reject and Finish are idempotent.
func TestItemCallsAreIdempotent(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 1, func(t *testing.T, s *batchFixture) {
		id := s.post(s.a, "[{},{}]")
		one := item.Item{Batch: id, Index: 1, Owner: s.a.In(0), Record: []byte(`{}`)}
		for i := range 2 {
			sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error {
				fresh, err := item.Begin(tx, one, "txn_1")
				if fresh != (i == 0) {
					t.Errorf("begun the time %d is %v", i+1, fresh)
				}
				return err
			})
		}
		for range 2 {
			sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error { return item.Finish(tx, s.clock.Now(), id, 1, true, nil) })
			sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error { _, err := item.Reject(tx, s.clock.Now(), one, refusal); return err })
		}
		if got := s.get(path + "/" + id); got.At("successful") != 1.0 || got.At("failed") != 0.0 || got.TextAt("state") != "queued" {
			t.Errorf("got %s", got.Text)
		}
		one.Index = 0
		for i := range 2 {
			sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error {
				done, err := item.Reject(tx, s.clock.Now(), one, refusal)
				if (done != nil) != (i == 0) {
					t.Errorf("refused the time %d is %v", i+1, done)
				}
				return err
			})
		}
		if err := s.DB.Update(t.Context(), func(tx *sqlstore.Tx) error {
			one.Batch = "rbt_none"
			_, err := item.Reject(tx, s.clock.Now(), one, refusal)
			return err
		}); err == nil {
			t.Error("a record of no batch is counted")
		}
	})
}
