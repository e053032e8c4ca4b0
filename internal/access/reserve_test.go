package access

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/apikey"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// A call that counts as n is allowed if n are left, and rejected if fewer are.
func TestACallOfManyNeedsRoomForAllOfThem(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		s.clock.Set(november)
		key := addKey(t, db, apikey.Spec{Account: addAccount(t, db, "one", "five"), World: schema.Live}).Key
		s.refresh()
		for _, step := range []struct {
			path   string
			status int
			used   string
			says   string
		}{
			{"/v1/aqi?reserve=6", 429, "0", `"retryable":false`}, // more than a month's quota
			{"/v1/aqi?reserve=2", 200, "2", ""},
			{"/v1/aqi?reserve=4", 429, "2", "counts as 4 calls, and the account has 3 left"},
			{"/v1/aqi?reserve=4&fail=not_found", 429, "2", `"retryable":true`},
			{"/v1/aqi?reserve=3&fail=forbidden", 403, "2", ""},
			{"/v1/aqi?reserve=3", 200, "5", ""},
			{"", 429, "5", "used all calls"},
		} {
			got := s.get(key, step.path)
			if got.status != step.status || got.head("X-Quota-Used") != step.used || !strings.Contains(got.text, step.says) {
				t.Errorf("%s: %d and %s used, want %d and %s with %q: %s", step.path, got.status, got.head("X-Quota-Used"), step.status, step.used, step.says, got.text)
			}
			if got.status == http.StatusTooManyRequests && (got.code != schema.QuotaExceeded || got.head("Retry-After") != "10") {
				t.Errorf("%s: %s and Retry-After %s, want quota_exceeded and 10", step.path, got.code, got.head("Retry-After"))
			}
		}
	})
}

// Concurrent calls that reserve after admission get no more than the quota together.
func TestAdmittedCallsReserveNoMoreThanTheQuota(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		acc := addAccount(t, db, "one", "free")
		key := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live}).Key
		s.refresh()
		const calls, each = 20, 300
		var done atomic.Int64
		var all sync.WaitGroup
		var admitted sync.WaitGroup
		admitted.Add(calls)
		for range calls {
			all.Go(func() {
				pass, c := s.admitted(key)
				admitted.Done()
				admitted.Wait()
				if err := pass.Reserve(c, each); err != nil {
					pass.End(c, http.StatusTooManyRequests)
					return
				}
				if err := pass.Reserve(c, each); err != nil {
					t.Errorf("the same again: %v", err)
				}
				done.Add(1)
				c.Count = each
				pass.End(c, http.StatusAccepted)
			})
		}
		all.Wait()
		// The other calls reserve one each until they end, so that there may be room for two.
		if n := done.Load(); n < 2 || n > 3 || s.quotaOf(acc).Used != n*each {
			t.Errorf("%d calls of %d were done and %d are used of 1000", n, each, s.quotaOf(acc).Used)
		}
		for range 1000 - done.Load()*each {
			if got := s.get(key, ""); got.status != http.StatusOK {
				t.Fatalf("a reservation was not given back: %s", got.text)
			}
		}
	})
}

// The events of a burst that is flushed at once report the usage at which each mark was reached.
func TestBurstEventsReportUsageAtTheirMark(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, withEvents(t, db))
		s.clock.Set(november)
		key := addKey(t, db, apikey.Spec{Account: addAccount(t, db, "one", "hundred"), World: schema.Live, Scopes: schema.Scopes}).Key
		s.refresh()
		for range 100 {
			s.get(key, "")
		}
		s.get(key, "/v1/keys") // is never rejected
		s.write()
		type quotaEvent struct{ threshold, used, percent int64 }
		got, err := sqlstore.All(db.View(t.Context()), func(row sqlstore.Scanner) (e quotaEvent, err error) {
			err = row.Scan(&e.threshold, &e.used, &e.percent)
			return e, err
		}, "SELECT threshold, used, percent FROM recorded_event ORDER BY threshold")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]quotaEvent{{80, 80, 80}, {100, 100, 100}}, got, cmp.AllowUnexported(quotaEvent{})); diff != "" {
			t.Errorf("the events (-want +got):\n%s", diff)
		}
	})
}
