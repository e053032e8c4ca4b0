package access

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/tablecache"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// maxStaleness is the longest time until every instance applies a change.
const maxStaleness = time.Second

// The interval between refreshes must be shorter than maxStaleness. The rest is left for the store.
func TestIntervalLeavesRoomForStaleness(t *testing.T) {
	t.Parallel()
	if tablecache.Interval > maxStaleness*2/3 {
		t.Errorf("refreshes every %s leave too little of %s for the store", tablecache.Interval, maxStaleness)
	}
}

// wants checks the error code of a reply.
func (s *serviceFixture) wants(key, path string, code schema.Code) {
	s.t.Helper()
	if got := s.get(key, path); got.code != code {
		s.t.Errorf("the answer is %d %s, want %q", got.status, got.text, code)
	}
}

// answers reports whether a reply has an error code.
func (s *serviceFixture) answers(key, path string, code schema.Code) func() bool {
	return func() bool { return s.get(key, path).code == code }
}

func TestRefreshAppliesChanges(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, mine, theirs *sqlstore.DB) {
		s := newServiceFixture(t, mine, nil)
		acc := addAccount(t, mine, "one", "unlimited")
		first := addKey(t, mine, apikey.Spec{Account: acc})
		s.refresh()
		s.wants(first.Key, "", "")

		later := addAccount(t, theirs, "two", "unlimited")
		second := addKey(t, theirs, apikey.Spec{Account: later})
		s.refresh()
		s.wants(second.Key, "", "")

		sqlstoretest.Update(t, theirs, func(tx *sqlstore.Tx) error { _, _, err := apikey.Revoke(tx, first.Record.ID, time.Now()); return err })
		s.refresh()
		s.wants(first.Key, "", schema.KeyRevoked)

		var third apikey.Created
		sqlstoretest.Update(t, theirs, func(tx *sqlstore.Tx) (err error) {
			third, _, err = apikey.Rotate(tx, s.Cipher, second.Record.ID, 0, 0, time.Now())
			return err
		})
		s.refresh()
		s.wants(third.Key, "", "")
		s.wants(second.Key, "", schema.KeyExpired) // it was rotated without grace

		sqlstoretest.Update(t, theirs, func(tx *sqlstore.Tx) error {
			_, _, err := account.SetAllowList(tx, later, []string{"192.0.2.0/24"})
			return err
		})
		s.refresh()
		s.wants(third.Key, "", schema.IPNotAllowed)
		sqlstoretest.Update(t, theirs, func(tx *sqlstore.Tx) error { _, _, err := account.SetAllowList(tx, later, nil); return err })
		s.refresh()
		s.wants(third.Key, "", "")
	})
}

func TestRunningServiceRefreshes(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, mine, theirs *sqlstore.DB) {
		here, there := newServiceFixture(t, mine, nil), newServiceFixture(t, theirs, nil)
		acc := addAccount(t, mine, "one", "hundred")
		revoked, counted := addKey(t, mine, apikey.Spec{Account: acc}), addKey(t, mine, apikey.Spec{Account: acc, World: schema.Live})
		here.start()
		there.start()
		here.wants(revoked.Key, "", "")
		sqlstoretest.Update(t, theirs, func(tx *sqlstore.Tx) error { _, _, err := apikey.Revoke(tx, revoked.Record.ID, time.Now()); return err })
		fixture.Eventually(here.t, "a revocation", here.answers(revoked.Key, "", schema.KeyRevoked))
		there.get(counted.Key, "/v1/aqi?count=100")
		fixture.Eventually(here.t, "a quota that was used up elsewhere", here.answers(counted.Key, "/v1/aqi?fail=forbidden", schema.QuotaExceeded))
	})
}

func TestRefreshIsAtOnce(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		acc := addAccount(t, db, "one", "unlimited")
		key := addKey(t, db, apikey.Spec{Account: acc})
		s.refresh()
		s.wants(key.Key, "", "")
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { _, _, err := apikey.Revoke(tx, key.Record.ID, time.Now()); return err })
		if got := s.get(key.Key, ""); got.status != http.StatusOK {
			t.Errorf("a known key costs a look at the store: %d", got.status)
		}
		s.refresh()
		s.wants(key.Key, "", schema.KeyRevoked)
	})
}

// A key that was created by another process can be used at once.
func TestUnknownKeyCausesRefresh(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		acc := addAccount(t, db, "one", "unlimited")
		s.refresh()
		key := addKey(t, db, apikey.Spec{Account: acc})
		s.wants(key.Key, "", "")

		// A client that guesses keys does not cause queries.
		s.lookups.SetLimit(0) // so that no token returns meanwhile
		s.lookups.SetBurst(0)
		late := addKey(t, db, apikey.Spec{Account: acc})
		s.wants(late.Key, "", schema.Unauthorized)
	})
}

// snapshot returns the content of a cache, without counters.
func (c *keyCache) snapshot() map[string]string {
	out := map[string]string{}
	for _, k := range c.byHash.Load().All() {
		out[k.id] = strings.Join([]string{k.account.id, k.account.plan, k.world.String()}, " ")
	}
	return out
}

func TestMissedAndRepeatedRefreshesAreHarmless(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		often, seldom := newServiceFixture(t, db, nil), newServiceFixture(t, db, nil)
		for _, name := range []string{"a", "b", "c"} {
			acc := addAccount(t, db, name, "free")
			often.refresh()
			for i := range 3 {
				made := addKey(t, db, apikey.Spec{Account: acc, World: schema.Sandbox, Name: name})
				often.refresh()
				often.refresh()
				sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
					_, _, err := account.SetPlan(tx, often.Settings.Plans, acc, "hundred")
					return err
				})
				if i == 0 {
					continue
				}
				sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
					_, _, err := apikey.Revoke(tx, made.Record.ID, time.Now())
					return err
				})
			}
			often.refresh()
		}
		often.refresh()
		seldom.refresh()
		if diff := cmp.Diff(seldom.cache.snapshot(), often.cache.snapshot()); diff != "" || len(often.cache.snapshot()) != 3 || often.cache.byHash.Load().Len() != 3 {
			t.Errorf("%d keys: %s", often.cache.byHash.Load().Len(), diff)
		}
	})
}

func TestReplacedStoreIsReadInFull(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		acc := addAccount(t, db, "one", "unlimited")
		kept, gone := addKey(t, db, apikey.Spec{Account: acc}), addKey(t, db, apikey.Spec{Account: acc})
		s.refresh()
		sqlstoretest.Exec(t, db, "DELETE FROM api_key WHERE id = $1", gone.Record.ID)
		sqlstoretest.Exec(t, db, "UPDATE access_revision SET n = n - 1")
		s.refresh()
		s.wants(kept.Key, "", "")
		s.wants(gone.Key, "", schema.Unauthorized)
		if s.cache.byHash.Load().Len() != 1 {
			t.Errorf("%d keys are known", s.cache.byHash.Load().Len())
		}
	})
}

func TestServiceSurvivesStoreOutage(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		acc := addAccount(t, db, "one", "large")
		key := addKey(t, db, apikey.Spec{Account: acc}).Key
		stop := s.start()
		for _, table := range []string{"access_revision", "usage_day", "quota_period"} {
			sqlstoretest.Exec(t, db, "ALTER TABLE "+table+" RENAME TO "+table+"_away")
		}
		fixture.Eventually(s.t, "the book's growing old, while it serves what it knows", func() bool {
			s.wants(key, "", "")
			return fixture.MetricValue(s.t, s.reg, "vayu_access_age_seconds") > (3 * tablecache.Interval).Seconds()
		})
		fixture.Eventually(s.t, "a failed writing", func() bool { return fixture.MetricValue(s.t, s.reg, "vayu_usage_flush_failures_total") > 1 })
		fixture.Eventually(s.t, "a second failed refresh", func() bool { return fixture.MetricValue(s.t, s.reg, "vayu_access_look_failures_total") > 1 })
		if got := fixture.MetricValue(s.t, s.reg, "vayu_usage_unwritten_calls"); got < 1 {
			t.Errorf("got %v unwritten calls, want at least 1", got)
		}
		for _, table := range []string{"access_revision", "usage_day", "quota_period"} {
			sqlstoretest.Exec(t, db, "ALTER TABLE "+table+"_away RENAME TO "+table)
		}
		fixture.Eventually(s.t, "the book's being young again", func() bool { return s.follower.Age() < tablecache.Interval })
		stop()
		if n := s.log.Count("does not answer\" doing=\"refreshing"); n != 1 {
			t.Errorf("the log tells %d times that keys cannot be looked at", n)
		}
		counted, stored := s.quotaOf(acc).Used, sqlstoretest.Value[int64](t, db, "SELECT used FROM quota_period")
		if counted != stored || counted == 0 {
			t.Errorf("%d calls were counted, %d are stored", counted, stored)
		}
	})
}

func TestServiceWaitsForStoreAtStart(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		key := addKey(t, db, apikey.Spec{Account: addAccount(t, db, "one", "unlimited")}).Key
		sqlstoretest.Exec(t, db, "ALTER TABLE quota_period RENAME TO away")
		running, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(running) }()
		fixture.Eventually(s.t, "the first failure", func() bool { return s.log.Count("loading keys") == 1 })
		sqlstoretest.Exec(t, db, "ALTER TABLE away RENAME TO quota_period")
		if err := s.Ready(running); err != nil {
			t.Error(err)
		}
		s.wants(key, "", "")
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if s.log.Count("loading keys") != 2 { // that it fails, and that it works
			t.Error(s.log.String())
		}
	})
}

func TestWrongKeysDoNotWaitForFailedStore(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		s.refresh()
		sqlstoretest.Exec(t, db, "ALTER TABLE access_revision RENAME TO away")
		for range 3 {
			if got := s.get(apikey.Mint(schema.Live), ""); got.code != schema.Unauthorized {
				t.Error(got.text)
			}
		}
		if got := fixture.MetricValue(s.t, s.reg, "vayu_access_look_failures_total"); got != 1 {
			t.Errorf("the store was looked at %v times, want 1", got)
		}
	})
}
