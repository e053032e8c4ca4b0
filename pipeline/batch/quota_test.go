package batch_test

import (
	"fmt"
	"sync"
	"testing"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// A batch needs quota for all of its records. Otherwise nothing is stored or counted, even
// for concurrent requests. A repeated batch needs none.
func TestBatchNeedsQuota(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 8, func(t *testing.T, s *batchFixture) {
		sqlstoretest.Exec(t, s.DB, "UPDATE account SET plan = 'free' WHERE id = '"+s.a.ID+"'") // 1,000 calls
		s.newDoor()
		live := s.a.Keys[schema.Live]
		send := func(ref string, n int) accesstest.Reply {
			return s.door.Do(live, "POST", path, fmt.Sprintf(`{"ref_id":%q,"recharges":%s}`, ref, records(n, "{}")))
		}
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				send(fmt.Sprint("large", i), schema.MaxBatchRecords).WantError(t, "a batch of 10,000", 429, schema.QuotaExceeded, "")
			})
		}
		all.Wait()
		if got := s.rowCounts(); got != [2]int{0, 0} {
			t.Errorf("stored are %v batches and chunks, want none", got)
		}
		first := send("first", 600).Want(t, "a batch of 600", 202)
		if used := first.Header.Get("X-Quota-Used"); used != "600" {
			t.Errorf("%s are used, want 600", used)
		}
		send("second", 600).WantError(t, "a second of 600", 429, schema.QuotaExceeded, "")
		if again := send("first", 600).Want(t, "the first again", 202); again.Header.Get("X-Quota-Used") != "601" {
			t.Errorf("%s are used after the same batch again, want 601", again.Header.Get("X-Quota-Used"))
		}
		if last := send("last", 399).Want(t, "as many as are left", 202); last.Header.Get("X-Quota-Used") != "1000" {
			t.Errorf("%s are used, want 1000", last.Header.Get("X-Quota-Used"))
		}
	})
}
