package access

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"vayu/internal/config"
	"vayu/internal/failurelog"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/internal/tablecache"
	"vayu/schema"
)

// A quota must be shared within a second. Usage is flushed every 400 ms and read every 200 ms, so other
// instances see it after at most 600 ms.
const (
	totalsInterval = 200 * time.Millisecond
	flushEvery     = 2 // in readings of totals
	// flushTimeout limits every flush, including its wait for the store.
	flushTimeout = 5 * time.Second
)

// stateStore names the store in failure logs.
const stateStore = "access: the state store"

// newFollower returns the part that refreshes the cache.
func (s *Service) newFollower() *tablecache.Follower {
	return tablecache.New(tablecache.Config{
		Name: "keys and accounts", Load: s.load, Failures: s.metrics.refreshFailures, Now: s.Now,
		Loading:    failurelog.New(s.Log, stateStore, "loading keys", "no call is answered", nil),
		Refreshing: failurelog.New(s.Log, stateStore, "refreshing keys", "cached keys stay in use", nil),
	})
}

// load applies the changes in the store to the cache. The first load includes the totals of quotas.
func (s *Service) load(ctx context.Context, now time.Time) error {
	limit, done := context.WithTimeout(ctx, tablecache.Timeout)
	defer done()
	_, begun := s.cache.loadedRevision()
	if !begun {
		if err := s.readTotals(ctx); err != nil {
			return err
		}
	}
	err := s.loadChanges(s.DB.View(limit))
	s.sweep(now)
	return err
}

// writeUsage flushes usage, and reads the totals of all instances, until ctx ends.
func (s *Service) writeUsage(ctx context.Context) {
	reading := failurelog.New(s.Log, stateStore, "reading quotas", "calls are counted on this instance only", nil)
	writing := failurelog.New(s.Log, stateStore, "writing usage", "it is kept in memory", nil)
	tick := 0
	sleep.Every(ctx, totalsInterval, func(ctx context.Context) {
		reading.Observe(ctx, s.readTotals(ctx))
		if tick++; tick%flushEvery == 0 {
			limit, done := context.WithTimeout(ctx, flushTimeout)
			defer done()
			writing.Observe(ctx, s.flush(limit))
		}
	})
}

// finalFlush writes the remaining usage when the service stops.
func (s *Service) finalFlush(ctx context.Context) error {
	limit, done := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer done()
	return s.flush(limit)
}

// Refresh applies the changes in the store to the cache now. After committing a change of a key or an account,
// callers use it so that the change takes effect on this instance at once. Other instances see it within a
// second. After an error the next refresh includes the same changes.
func (s *Service) Refresh(ctx context.Context) error { return s.follower.Refresh(ctx) }

// Rate and burst of refreshes for unknown keys. Such a refresh makes a new key usable at once. The limit
// protects the store from clients that guess keys.
const (
	lookupRate  = 20
	lookupBurst = 5
)

// findKey returns the key with a hash, or nil. An unknown key may have just been created by the command line or
// another instance, so findKey refreshes first. If the last refresh failed, it does not. Otherwise every call
// with a wrong key would wait for the timeout.
func (s *Service) findKey(ctx context.Context, hash [sha256.Size]byte) *cachedKey {
	if g := s.cache.find(hash); g != nil {
		return g
	}
	if g := s.cache.ended.find(hash, s.Now().UnixMicro()); g != nil {
		return g
	}
	if s.follower.Failing() || !s.lookups.Allow() || s.Refresh(ctx) != nil {
		return nil
	}
	if g := s.cache.find(hash); g != nil {
		return g
	}
	limit, done := context.WithTimeout(ctx, tablecache.Timeout)
	defer done()
	g, err := s.findEnded(limit, selectEndedByHash, hash[:])
	if err != nil {
		s.metrics.refreshFailures.Inc()
	}
	return g
}

// loadChanges reads the rows that are newer than the cache. Keys are read before accounts, so that
// the account of every key is included.
func (s *Service) loadChanges(view sqlstore.View) error {
	n := delta{}
	if err := view.QueryRow("SELECT n FROM access_revision WHERE id = 1").Scan(&n.revision); err != nil {
		return err
	}
	since, begun := s.cache.loadedRevision()
	if begun && n.revision == since {
		return nil
	}
	if n.revision < since { // the store was replaced by an older one
		n.full, since = true, 0
	}
	var err error
	n.keys, err = s.changedKeys(view, since)
	if err != nil {
		return err
	}
	n.accounts, err = sqlstore.All(view, s.scanAccount,
		"SELECT id, name, plan, allow_list, created_at, revision FROM account WHERE revision > $1", since)
	if err != nil {
		return err
	}
	s.cache.apply(n, s.Now().UnixMicro(), s.newBuckets)
	return nil
}

func (s *Service) scanAccount(row sqlstore.Scanner) (*cachedAccount, error) {
	a, allow := &cachedAccount{}, ""
	if err := row.Scan(&a.id, &a.name, &a.plan, &allow, &a.createdAt, &a.revision); err != nil {
		return nil, err
	}
	a.allow = s.allowList(a.id, allow)
	a.limit = s.limitOf(a.plan)
	a.counters = s.counters.account(a.id)
	return a, nil
}

func (s *Service) scanKey(row sqlstore.Scanner) (keyRow, error) {
	k := keyRow{}
	var mode, scopes, allow string
	var hash []byte
	var signature int64
	err := row.Scan(&k.id, &k.accountID, &mode, &k.name, &hash, &scopes, &allow, &signature, &k.signingSecret,
		&k.expiresAt, &k.revokedAt, &k.revision)
	if err != nil {
		return k, err
	}
	copy(k.hash[:], hash)
	k.world = schema.WorldOf(mode)
	for scope := range strings.FieldsSeq(scopes) {
		k.scopes |= schema.SetOf(schema.Scope(scope))
	}
	k.requireSignature = signature != 0
	k.allow = s.allowList(k.id, allow)
	return k, nil
}

// allowList parses a column of networks. If the column is invalid, the list allows no address. It must not be
// empty, because an empty list allows every address.
func (s *Service) allowList(of, list string) []netip.Prefix {
	networks, err := config.Networks(strings.Fields(list))
	if err != nil {
		s.Log.Error("an allow-list is invalid; no address is allowed", "of", of, "error", err)
		return []netip.Prefix{{}}
	}
	return networks
}

// clockSkew is the tolerated difference between the clocks of instances. readTotals therefore also reads the
// rows that changed up to clockSkew before its last run.
const clockSkew = 10 * time.Second

// readTotals reads what all instances have counted this month. For a new month it reads all rows,
// otherwise the recently changed ones.
func (s *Service) readTotals(ctx context.Context) error {
	limit, done := context.WithTimeout(ctx, tablecache.Timeout)
	defer done()
	l := &s.counters
	l.flushing.Lock()
	defer l.flushing.Unlock()
	now, since := s.Now(), int64(0)
	period := periodOf(now)
	if period == l.period {
		since = l.readAt.Add(-clockSkew).UnixMicro()
	}
	err := sqlstore.Each(s.DB.View(limit), func(row sqlstore.Scanner) error {
		var account string
		var used int64
		if err := row.Scan(&account, &used); err != nil {
			return err
		}
		if m := l.account(account).monthAt(now); m.period == period {
			m.mergeTotal(used, 0)
		}
		return nil
	}, "SELECT account_id, used FROM quota_period WHERE period = $1 AND changed_at >= $2", period, since)
	if err != nil {
		return fmt.Errorf("reading quotas: %w", err)
	}
	l.period, l.readAt = period, now
	return nil
}

// refresh calls Refresh after a committed change. It ignores the error, because the change is durable.
func (s *Service) refresh(ctx context.Context) {
	_ = s.Refresh(context.WithoutCancel(ctx)) // the metric counts the error; the follower logs it
}
