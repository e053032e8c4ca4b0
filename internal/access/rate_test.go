package access

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// newWithoutStore returns an instance without a store, with one key of an unlimited account in its
// cache.
func newWithoutStore(t testing.TB, change func(*Config)) (s *serviceFixture, key string) {
	t.Helper()
	s = newServiceFixture(t, nil, change)
	key = apikey.Mint(schema.Live)
	s.cache.apply(delta{
		revision: 1,
		accounts: []*cachedAccount{{id: "acc_1", plan: "unlimited", revision: 1, usage: s.usage.Account("acc_1")}},
		keys:     []keyRow{{cachedKey: cachedKey{id: "key_1", scopes: 1<<len(schema.Scopes) - 1, revision: 1}, accountID: "acc_1", hash: apikey.Hash(key)}},
	}, 0, s.Settings)
	return s, key
}

// allowedCalls returns the number of calls until the first rejected one.
func allowedCalls(t *testing.T, s *serviceFixture, key, path string, most int) (n int, refused reply) {
	t.Helper()
	for range most + 1 {
		r := s.get(key, path)
		if r.code == schema.RateLimited {
			return n, r
		}
		if r.status != http.StatusOK {
			t.Fatalf("%d %s", r.status, r.text)
		}
		n++
	}
	return n, reply{}
}

func TestBucketGivesItsBurstAndThenItsRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, key := newWithoutStore(t, func(c *Config) { c.Settings.Rate, c.Settings.Burst = 5, 20 })
		for _, step := range []struct {
			wait                 time.Duration
			through, retry, fill int
		}{
			{0, 20, 1, 4},
			{time.Second, 5, 1, 4},
			{100 * time.Millisecond, 0, 1, 4},
			{100 * time.Millisecond, 1, 1, 4},
			{2 * time.Second, 10, 1, 4},
			{time.Hour, 20, 1, 4},
		} {
			time.Sleep(step.wait)
			n, refused := allowedCalls(t, s, key, "/v1/aqi", 20)
			if n != step.through || refused.head("Retry-After") != strconv.Itoa(step.retry) {
				t.Errorf("after %s: %d calls went through, Retry-After %s; want %d and %d",
					step.wait, n, refused.head("Retry-After"), step.through, step.retry)
			}
			reset, err := strconv.ParseInt(refused.head("X-RateLimit-Reset"), 10, 64)
			if err != nil || reset-time.Now().Unix() != int64(step.fill) {
				t.Errorf("after %s: full again in %d s, want %d (%v)", step.wait, reset-time.Now().Unix(), step.fill, err)
			}
		}
	})
}

func TestWaitForASlowBucketIsItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBucket(1, 1)
		if !b.take(time.Now()) {
			t.Fatal("a bucket of one gave none")
		}
		if b.take(time.Now()) {
			t.Fatal("a bucket of one gave two")
		}
		b.limiter.SetLimit(0.1)
		if got := b.wait(time.Now()); got != 10 {
			t.Errorf("wait %d s, want 10", got)
		}
	})
}

func TestMoneyHasABucketOfItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, key := newWithoutStore(t, func(c *Config) {
			c.Settings.Rate, c.Settings.Burst, c.Settings.MoneyRate, c.Settings.MoneyBurst = 10, 10, 2, 3
		})
		if n, _ := allowedCalls(t, s, key, "/v1/recharge/1", 10); n != 3 {
			t.Errorf("%d recharges went through, want 3", n)
		}
		if n, _ := allowedCalls(t, s, key, "/v1/aqi", 10); n != 10 {
			t.Errorf("%d other calls went through, want 10", n)
		}
	})
}

// All keys of an account share a rate. Replies report the bucket with fewer tokens left.
func TestKeysOfAnAccountShareABucket(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		worth, want int
		left        string // after a call of each of two keys: of the account, or of the key
	}{
		"as one key": {1, 20, "18"}, "as two": {2, 40, "19"}, "any number": {0, 180, "19"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, first := newWithoutStore(t, func(c2 *Config) {
					c2.Settings.Rate, c2.Settings.Burst, c2.Settings.AccountFactor = 5, 20, c.worth
				})
				keys := []string{first}
				n := delta{revision: 2}
				for i := range 8 {
					keys = append(keys, apikey.Mint(schema.Live))
					n.keys = append(n.keys, keyRow{
						cachedKey: cachedKey{id: "key_more" + strconv.Itoa(i), scopes: 1<<len(schema.Scopes) - 1, revision: 2}, accountID: "acc_1", hash: apikey.Hash(keys[i+1]),
					})
				}
				s.cache.apply(n, 0, s.Settings)
				passed := 0
				for _, key := range keys {
					n, refused := allowedCalls(t, s, key, "/v1/aqi", 20)
					passed += n
					if refused.head("X-RateLimit-Remaining") != "0" || refused.head("Retry-After") != "1" {
						t.Errorf("refused with %v", refused.header)
					}
				}
				if passed != c.want {
					t.Errorf("%d calls of nine keys went through, want %d", passed, c.want)
				}
				time.Sleep(time.Minute)
				s.get(keys[0], "/v1/aqi")
				if got := s.get(keys[1], "/v1/aqi"); got.head("X-RateLimit-Remaining") != c.left {
					t.Errorf("%s calls are left, want %s", got.head("X-RateLimit-Remaining"), c.left)
				}
			})
		})
	}
}

// The worlds of an account have separate buckets.
func TestWorldsHaveBucketsOfTheirOwn(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, func(c *Config) { c.Settings.Rate, c.Settings.Burst, c.Settings.AccountFactor = 1, 3, 1 })
		s.clock.Set(november)
		acc := addAccount(t, db, "one", "unlimited")
		live, other, sandbox := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live}), addKey(t, db, apikey.Spec{Account: acc, World: schema.Live}), addKey(t, db, apikey.Spec{Account: acc, World: schema.Sandbox})
		s.refresh()
		for _, step := range []struct {
			key  string
			want int
		}{{live.Key, 3}, {other.Key, 0}, {sandbox.Key, 3}} {
			if n, refused := allowedCalls(t, s, step.key, "", 3); n != step.want || n == 0 && !strings.Contains(refused.text, "all keys of the account") {
				t.Errorf("%d calls went through, want %d: %s", n, step.want, refused.text)
			}
		}
	})
}

func TestNoRateIsNoLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, key := newWithoutStore(t, nil)
		if n, _ := allowedCalls(t, s, key, "/v1/aqi", 500); n != 501 {
			t.Errorf("%d calls went through", n)
		}
		if got := s.get(key, "").head("X-RateLimit-Limit"); got != "" {
			t.Errorf("X-RateLimit-Limit: %s", got)
		}
	})
}

func TestBucketOutlivesAChangeOfItsKey(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, func(c *Config) { c.Settings.Rate, c.Settings.Burst = 1, 3 })
		s.clock.Set(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		acc := addAccount(t, db, "one", "unlimited")
		key := addKey(t, db, apikey.Spec{Account: acc})
		s.refresh()
		if n, _ := allowedCalls(t, s, key.Key, "", 3); n != 3 {
			t.Fatalf("%d calls went through", n)
		}
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
			_, _, err := account.SetAllowList(tx, acc, []string{"203.0.113.0/24"})
			return err
		})
		sqlstoretest.Exec(t, db, "UPDATE access_revision SET n = n + 1")
		sqlstoretest.Exec(t, db, "UPDATE api_key SET name = 'another', revision = (SELECT n FROM access_revision)")
		s.refresh()
		if n, _ := allowedCalls(t, s, key.Key, "", 3); n != 0 {
			t.Errorf("%d calls went through after a change of the key", n)
		}
	})
}

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Settings)
		faults int
	}{
		"as they are":    {func(*Settings) {}, 0},
		"off":            {func(s *Settings) { s.Rate, s.Burst, s.MoneyRate, s.MoneyBurst = 0, 0, 0, 0 }, 0},
		"negative rate":  {func(s *Settings) { s.Rate = -1 }, 1},
		"no burst":       {func(s *Settings) { s.MoneyBurst = 0 }, 1},
		"negative burst": {func(s *Settings) { s.Rate, s.Burst = 0, -1 }, 1},
		"worth nothing":  {func(s *Settings) { s.AccountFactor, s.MaxKeys = 0, 0 }, 0},
		"negative worth": {func(s *Settings) { s.AccountFactor = -1 }, 1},
		"huge worth":     {func(s *Settings) { s.AccountFactor = mostKeysWorth + 1 }, 1},
		"negative keys":  {func(s *Settings) { s.MaxKeys = -1 }, 1},
		"negative plan":  {func(s *Settings) { s.Plans["free"] = -1 }, 1},
		"no free plan":   {func(s *Settings) { delete(s.Plans, "free") }, 1},
		"huge plan":      {func(s *Settings) { s.Plans["standard"] = 1e15 }, 0},
		"too huge":       {func(s *Settings) { s.Plans["standard"] = 1e15 + 1 }, 1},
		"plan unnamed":   {func(s *Settings) { s.Plans[""] = 1 }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			settings := DefaultSettings()
			c.change(&settings)
			if got := settings.Validate(); len(got) != c.faults {
				t.Errorf("%v, want %d faults", got, c.faults)
			}
		})
	}
}
