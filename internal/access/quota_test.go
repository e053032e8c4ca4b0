package access

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/apikey"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

var november = time.Date(2026, 11, 30, 23, 59, 50, 0, time.UTC)

// With the quota used up, an account can still be managed.
func TestCallsAboutTheAccountAreNotRefusedForItsQuota(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		acc := addAccount(t, db, "one", "five")
		key := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live, Scopes: schema.Scopes}).Key
		s.refresh()
		for _, step := range []struct{ path, used, code string }{
			{"/v1/aqi?count=5", "5", ""}, {"/v1/aqi", "5", string(schema.QuotaExceeded)}, {"/v1/keys", "6", ""}, {"/v1/aqi", "6", string(schema.QuotaExceeded)},
		} {
			if got := s.get(key, step.path); string(got.code) != step.code || got.head("X-Quota-Used") != step.used {
				t.Errorf("%s: %s and %s used, want %q and %s", step.path, got.text, got.head("X-Quota-Used"), step.code, step.used)
			}
		}
	})
}

func TestCallThatUsesUpTheQuotaIsTheLast(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		s.clock.Set(november)
		acc := addAccount(t, db, "one", "five")
		key := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live}).Key
		sandbox := addKey(t, db, apikey.Spec{Account: acc, World: schema.Sandbox}).Key
		s.refresh()
		for i, step := range []struct {
			path   string
			status int
			used   string
		}{
			{"", 200, "1"},
			{"/v1/aqi?fail=not_found", 404, "2"},
			{"/v1/aqi?fail=internal_error", 500, "3"},
			{"/v1/aqi?fail=signature_invalid", 401, "3"},
			{"/v1/aqi?fail=forbidden", 403, "3"},
			{"/v1/aqi?fail=rate_limited", 429, "3"},
			{"/v1/keys", 403, "3"},
			{"", 200, "4"},
			{"/v1/aqi?count=3", 200, "7"}, // 4 of 5 are used: the call is allowed, and counts in full
			{"", 429, "7"},
		} {
			got := s.get(key, step.path)
			if got.status != step.status || got.head("X-Quota-Used") != step.used {
				t.Errorf("call %d, %s: %d and %s used, want %d and %s", i, step.path, got.status, got.head("X-Quota-Used"), step.status, step.used)
			}
		}
		refused := s.get(key, "")
		if refused.code != schema.QuotaExceeded || refused.head("Retry-After") != "10" {
			t.Errorf("%s, Retry-After %s; want 10, the seconds to the month's end", refused.text, refused.head("Retry-After"))
		}
		want := &schema.Quota{Period: "2026-11", Limit: 5, Used: 7, Percent: 140, ResetsAt: "2026-12-01T00:00:00Z"}
		if diff := cmp.Diff(want, s.quotaOf(acc)); diff != "" {
			t.Error(diff)
		}
		if got := s.get(sandbox, "/v1/aqi?count=100"); got.status != http.StatusOK || got.head("X-Quota-Limit") != "" {
			t.Errorf("the sandbox is counted: %d %v", got.status, got.header)
		}

		s.clock.Set(november.Add(10 * time.Second))
		if got := s.get(key, ""); got.status != http.StatusOK || got.head("X-Quota-Used") != "1" ||
			got.head("X-Quota-Reset") != strconv.FormatInt(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), 10) {
			t.Errorf("after the month's end: %d %v", got.status, got.header)
		}
		s.write()
		for period, used := range map[string]int64{"2026-11": 7, "2026-12": 1} {
			if got := sqlstoretest.Value[int64](t, db, "SELECT used FROM quota_period WHERE account_id = $1 AND period = $2", acc, period); got != used {
				t.Errorf("%s: %d are stored, want %d", period, got, used)
			}
		}
	})
}

func TestCallAcrossMidnightCountsInItsMonth(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		s.clock.Set(november)
		acc := addAccount(t, db, "one", "five")
		key := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live}).Key
		s.refresh()
		pass, c := s.admitted(key)
		s.clock.Set(november.Add(time.Minute))
		if got := s.get(key, ""); got.head("X-Quota-Used") != "1" {
			t.Errorf("used %s of December, want 1", got.head("X-Quota-Used"))
		}
		pass.End(c, http.StatusOK)
		s.write()
		got := []int64{
			sqlstoretest.Value[int64](t, db, "SELECT used FROM quota_period WHERE period = '2026-11'"),
			sqlstoretest.Value[int64](t, db, "SELECT used FROM quota_period WHERE period = '2026-12'"),
			sqlstoretest.Value[int64](t, db, "SELECT counted FROM usage_day WHERE day = '2026-11-30'"),
			sqlstoretest.Value[int64](t, db, "SELECT counted FROM usage_day WHERE day = '2026-12-01'"),
		}
		if diff := cmp.Diff([]int64{1, 1, 1, 1}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestQuotaIsExactAmongManyAtOnce(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		acc := addAccount(t, db, "one", "free")
		key := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live}).Key
		s.refresh()
		stop := s.start()
		var passed, refused atomic.Int64
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				for range 20 {
					switch got := s.get(key, ""); got.status {
					case http.StatusOK:
						passed.Add(1)
					case http.StatusTooManyRequests:
						refused.Add(1)
					default:
						t.Error(got.text)
					}
				}
			})
		}
		all.Wait()
		stop()
		if passed.Load() != 1000 || refused.Load() != 280 {
			t.Errorf("%d passed and %d were refused, want 1000 and 280", passed.Load(), refused.Load())
		}
		got := [...]int64{
			sqlstoretest.Value[int64](t, db, "SELECT used FROM quota_period"), sqlstoretest.Value[int64](t, db, "SELECT calls FROM usage_day"),
			sqlstoretest.Value[int64](t, db, "SELECT failed FROM usage_day"), sqlstoretest.Value[int64](t, db, "SELECT counted FROM usage_day"),
		}
		if diff := cmp.Diff([...]int64{1000, 1280, 280, 1000}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestUnknownPlanIsFree(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		a, b := addAccount(t, db, "a", "gone"), addAccount(t, db, "b", "gone")
		without := addAccount(t, db, "c", "unlimited")
		s.refresh()
		if s.quotaOf(a).Limit != 1000 || s.quotaOf(b).Limit != 1000 || s.log.Count("plan=gone") != 1 {
			t.Errorf("limits %d and %d, %d warnings", s.quotaOf(a).Limit, s.quotaOf(b).Limit, s.log.Count("plan=gone"))
		}
		for _, id := range []string{without, "acc_nobody"} {
			if got := s.quotaOf(id); got != nil {
				t.Errorf("the quota of %s is %+v, want none", id, got)
			}
		}
	})
}
