package batch_test

import (
	"context"
	"sync/atomic"
	"testing"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/pipeline/batch"
)

// Records that cannot be begun because something is away come again until it is back,
// and then all at once: each is begun once.
func TestWhatIsAwayForAWhileHoldsRecordsBack(t *testing.T) {
	t.Parallel()
	eachSite(t, 16, func(t *testing.T, s *site) {
		var tried atomic.Int64
		s.before = func(context.Context, batch.Item) error {
			if tried.Add(1) < 40 {
				return errAway
			}
			return nil
		}
		id := s.post(s.a, records(250, "{}"))
		stop := s.run()
		s.wait(id)
		stop()
		s.begunOnce(id, 250, 0)
		if got := s.figure("vayu_batch_records_total", "outcome", "again"); got != 39 {
			t.Errorf("%v are counted to come again, want 39", got)
		}
		if got := s.log.Count("cannot be begun"); got == 0 || got > 39 {
			t.Errorf("it is said %d times", got)
		}
	})
}

// A record that never can be begun holds up neither the rest of its batch nor other
// batches, of its account or another's; nor does one that panics.
func TestOneRecordHoldsUpNobody(t *testing.T) {
	t.Parallel()
	eachSite(t, 4, func(t *testing.T, s *site) {
		var heal atomic.Bool
		s.before = func(_ context.Context, item batch.Item) error {
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
		if got := one[int](t, s.DB, "SELECT successful FROM batch WHERE id = $1", stuck); got != 248 {
			t.Errorf("%d of the others are done, want 248", got)
		}
		heal.Store(true)
		s.wait(stuck)
		stop()
		s.begunOnce(stuck, 248, 2) // they are no objects
		if s.log.Count("msg=panic") == 0 {
			t.Error("nobody was told of the panic")
		}
	})
}

// A Do that says that it has done what it has not loses nothing.
func TestARecordWithoutAnItemComesAgain(t *testing.T) {
	t.Parallel()
	eachSite(t, 4, func(t *testing.T, s *site) {
		var lied atomic.Bool
		s.lies = func(item batch.Item) bool { return item.Index == 7 && !lied.Swap(true) }
		id := s.post(s.a, records(20, "{}"))
		stop := s.run()
		s.wait(id)
		stop()
		s.begunOnce(id, 20, 0)
		if got := s.figure("vayu_batch_failures_total", "kind", "recharge"); got != 1 {
			t.Errorf("%v failures are counted", got)
		}
	})
}

// A store that fails is tried again, and its failures are counted; nothing is lost
// meanwhile.
func TestAStoreThatFails(t *testing.T) {
	t.Parallel()
	eachSite(t, 4, func(t *testing.T, s *site) {
		rename := func(from, to string) {
			update(t, s.DB, func(tx *sqlstore.Tx) error {
				_, err := tx.Exec("ALTER TABLE " + from + " RENAME TO " + to)
				return err
			})
		}
		id := s.post(s.a, records(250, "{}"))
		rename("batch_chunk", "gone")
		stop := s.run()
		s.logged("does not answer")
		rename("gone", "batch_chunk")
		s.wait(id)
		stop()
		s.begunOnce(id, 250, 0)
		if s.log.Count("does not answer") != 1 || s.log.Count("answers again") != 1 {
			t.Errorf("the log says %s", s.log.String())
		}
	})
}

// Records that cannot be read, which somebody has changed in the store, are counted,
// and come again when they were repaired.
func TestRecordsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	eachSite(t, 4, func(t *testing.T, s *site) {
		bad, good := s.post(s.a, records(3, "{}")), s.post(s.a, records(3, "{}"))
		set := func(text string) {
			update(t, s.DB, func(tx *sqlstore.Tx) error {
				_, err := tx.Exec("UPDATE batch_chunk SET records = $2 WHERE batch_id = $1", bad, batch.SealChunk(accesstest.Box(t), bad, 0, []byte(text)))
				return err
			})
		}
		set("{},{")
		stop := s.run()
		s.wait(good)
		stop()
		if got := s.figure("vayu_batch_failures_total"); got == 0 {
			t.Error("nothing is counted")
		}
		set("{},{},{}")
		s.run()
		s.wait(bad)
	})
}

// What Begin, Refuse and Finish are told twice changes nothing.
func TestTwiceIsOnce(t *testing.T) {
	t.Parallel()
	eachSite(t, 1, func(t *testing.T, s *site) {
		id := s.post(s.a, "[{},{}]")
		item := batch.Item{Batch: id, Index: 1, Owner: s.a.In(0), Record: []byte(`{}`)}
		for i := range 2 {
			update(t, s.DB, func(tx *sqlstore.Tx) error {
				fresh, err := batch.Begin(tx, item, "txn_1")
				if fresh != (i == 0) {
					t.Errorf("begun the time %d is %v", i+1, fresh)
				}
				return err
			})
		}
		for range 2 {
			update(t, s.DB, func(tx *sqlstore.Tx) error { _, err := batch.Finish(tx, s.clock.Now(), id, 1, true); return err })
			update(t, s.DB, func(tx *sqlstore.Tx) error { _, err := batch.Refuse(tx, s.clock.Now(), item, refusal); return err })
		}
		if got := s.ask(path + "/" + id); got.At("successful") != 1.0 || got.At("failed") != 0.0 || got.Said("state") != "queued" {
			t.Errorf("got %s", got.Text)
		}
		item.Index = 0
		for i := range 2 {
			update(t, s.DB, func(tx *sqlstore.Tx) error {
				done, err := batch.Refuse(tx, s.clock.Now(), item, refusal)
				if (done != nil) != (i == 0) {
					t.Errorf("refused the time %d is %v", i+1, done)
				}
				return err
			})
		}
		if err := s.DB.Update(t.Context(), func(tx *sqlstore.Tx) error {
			item.Batch = "rbt_none"
			_, err := batch.Refuse(tx, s.clock.Now(), item, refusal)
			return err
		}); err == nil {
			t.Error("a record of no batch is counted")
		}
	})
}
