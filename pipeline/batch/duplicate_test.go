package batch_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

// duplicates returns the body of a full batch whose records all have one ref_id.
func duplicates() string {
	return `{"recharges":` + records(schema.MaxBatchRecords, `{"ref_id":"x"}`) + `}`
}

// Accepting a batch of 10,000 duplicates writes its chunks only, because other writers
// wait.
func TestAcceptWritesNoRowPerDuplicate(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 8, func(t *testing.T, s *batchFixture) {
		id := s.door.Do(s.a.Keys[schema.Sandbox], "POST", path, duplicates()).Want(t, "a batch", 202).TextAt("batch_id")
		if got := sqlstoretest.Value[int](t, s.DB, "SELECT COUNT(*) FROM batch_item WHERE batch_id = $1", id); got != 0 {
			t.Errorf("accepting wrote %d items, want none", got)
		}
		if got := sqlstoretest.Value[int](t, s.DB, "SELECT COUNT(*) FROM batch_chunk WHERE batch_id = $1", id); got != 100 {
			t.Errorf("accepting wrote %d chunks, want 100", got)
		}
	})
}

// The duplicates of a chunk are rejected together, without a call of Do, and name the
// record that counts.
func TestDuplicatesAreRejectedPerChunk(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 8, func(t *testing.T, s *batchFixture) {
		id := s.door.Do(s.a.Keys[schema.Live], "POST", path, duplicates()).Want(t, "a batch", 202).TextAt("batch_id")
		s.run()
		got := s.wait(id)
		if diff := cmp.Diff([3]int{schema.MaxBatchRecords, 1, schema.MaxBatchRecords - 1}, [3]int{got.Total, got.Successful, got.Failed}); diff != "" {
			t.Errorf("total, successful and failed (-want +got):\n%s", diff)
		}
		s.mu.Lock()
		calls := len(s.calls)
		s.mu.Unlock()
		if calls != 1 {
			t.Errorf("Do was called for %d records, want 1", calls)
		}
		text := s.get(path+"/"+id+"/results?limit=1000").Want(t, "results", 200).Text
		if n := strings.Count(text, "Record 0 of this batch has the same ref_id."); n != 999 {
			t.Errorf("%d of the first 1,000 results name record 0, want 999", n)
		}
	})
}

// A batch whose last open records are duplicates completes once.
func TestDuplicatesCompleteBatch(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 8, func(t *testing.T, s *batchFixture) {
		var all []string
		for i := range 100 {
			all = append(all, fmt.Sprintf(`{"ref_id":"r%d"}`, i))
		}
		id := s.post(s.a, "["+strings.Join(append(all, `{"ref_id":"r0"}`, `{"ref_id":"r7"}`), ",")+"]")
		later := func(due time.Time) {
			sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error {
				_, err := tx.Exec("UPDATE batch_chunk SET due_at = $1 WHERE batch_id = $2 AND first = 100", due.UnixMicro(), id)
				return err
			})
		}
		later(s.clock.Now().Add(time.Hour))
		stop := s.run()
		for sqlstoretest.Value[int](t, s.DB, "SELECT successful FROM batch WHERE id = $1", id) < 100 {
			runtime.Gosched()
		}
		stop()
		later(s.clock.Now().Add(-time.Hour))
		s.run()
		if got := s.wait(id); got.Successful != 100 || got.Failed != 2 {
			t.Errorf("successful and failed are %d and %d, want 100 and 2", got.Successful, got.Failed)
		}
	})
}

// Sandbox batches are accepted one at a time, and do not delay live ones.
func TestSandboxBatchesAreAcceptedOneAtATime(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 8, func(t *testing.T, s *batchFixture) {
		leave, err := s.EnterSandbox(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		status := make(chan int, 1)
		go func() {
			status <- s.door.Do(s.a.Keys[schema.Sandbox], "POST", path, `{"recharges":[{}]}`).Status
		}()
		s.post(s.a, "[{}]")
		select {
		case got := <-status:
			t.Errorf("a second batch of the sandbox got %d, want that it waits", got)
		default:
		}
		leave()
		if got := <-status; got != 202 {
			t.Errorf("a batch of the sandbox got %d afterwards, want 202", got)
		}
	})
}

// Writes of sandbox records are marked for the store.
func TestSandboxWritesAreMarked(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 8, func(t *testing.T, s *batchFixture) {
		worlds := make(chan [2]schema.World, 2)
		s.before = func(ctx context.Context, item item.Item) error {
			worlds <- [2]schema.World{item.Owner.World, sqlstore.WorldOf(ctx)}
			return nil
		}
		s.run()
		for _, w := range schema.Worlds {
			s.door.Do(s.a.Keys[w], "POST", path, `{"recharges":[{}]}`).Want(t, "a batch", 202)
			if got := <-worlds; got[0] != w || got[1] != w {
				t.Errorf("the record of %s is of %s and its changes of %s", w, got[0], got[1])
			}
		}
	})
}

// BenchmarkBesideSandbox measures a live write while forty clients send batches of 10,000
// duplicates to the sandbox.
func BenchmarkBesideSandbox(b *testing.B) {
	eachBench(b, 64, func(b *testing.B, s *batchFixture) { //nolint:thelper // it is the benchmark
		body := duplicates()
		ctx, stop := context.WithCancel(context.Background())
		var wait sync.WaitGroup
		for range 40 {
			wait.Go(func() {
				for ctx.Err() == nil {
					s.door.Do(s.a.Keys[schema.Sandbox], "POST", path, body).Want(b, "a batch", 202)
				}
			})
		}
		s.run()
		var took []time.Duration
		for b.Loop() {
			began := time.Now()
			s.door.Do(s.a.Keys[schema.Live], "POST", path, `{"recharges":[{}]}`).Want(b, "a live batch", 202)
			took = append(took, time.Since(began))
		}
		stop()
		wait.Wait()
		slices.Sort(took)
		for _, q := range []struct {
			name string
			at   int
		}{{"p50-ms", len(took) / 2}, {"p99-ms", len(took) * 99 / 100}, {"max-ms", len(took) - 1}} {
			b.ReportMetric(float64(took[q.at])/float64(time.Millisecond), q.name)
		}
	})
}
