package access

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"vayu/internal/config"
	"vayu/internal/failurelog"
	"vayu/internal/sqlstore"
	"vayu/internal/tablecache"
	"vayu/schema"
)

// stateStore names the store in failure logs.
const stateStore = "access: the state store"

func (s *Service) newFollower() *tablecache.Follower {
	return tablecache.New(tablecache.Config{
		Name: "keys and accounts", Load: s.load, Failures: s.metrics.refreshFailures, Now: s.Now, Timeout: s.Timeout,
		Loading:    failurelog.New(s.Log, stateStore, "loading keys", "no call is answered", nil),
		Refreshing: failurelog.New(s.Log, stateStore, "refreshing keys", "cached keys stay in use", nil),
	})
}

// load applies the changes in the store to the cache. Until a load has succeeded, it also reads the accounts' usage.
func (s *Service) load(ctx context.Context, now time.Time) error {
	limit, done := context.WithTimeout(ctx, s.follower.Timeout)
	defer done()
	_, begun := s.cache.loadedRevision()
	if !begun {
		if err := s.usage.ReadTotals(ctx); err != nil {
			return err
		}
	}
	err := s.loadChanges(s.DB.View(limit))
	s.sweep(now)
	return err
}

// Refresh applies the changes in the store to the cache now. Call Refresh after the commit of a change of a key or an
// account. The change then takes effect on this instance at once, and on other instances within a second. After an
// error, the next refresh includes the same changes.
func (s *Service) Refresh(ctx context.Context) error { return s.follower.Refresh(ctx) }

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
	if n.revision < since { // invalidate was called, or an older store was restored
		n.full, since = true, 0
	}
	var err error
	n.keys, err = s.changedKeys(view, since)
	if err != nil {
		return err
	}
	n.accounts, err = sqlstore.All(view, s.scanAccount,
		"SELECT id, plan, allow_list, revision FROM account WHERE revision > $1", since)
	if err != nil {
		return err
	}
	s.cache.apply(n, s.Now().UnixMicro(), s.Settings)
	return nil
}

func (s *Service) scanAccount(row sqlstore.Scanner) (*cachedAccount, error) {
	a, allow := &cachedAccount{}, ""
	if err := row.Scan(&a.id, &a.plan, &allow, &a.revision); err != nil {
		return nil, err
	}
	a.allow = s.allowList(a.id, allow)
	a.usage = s.usage.Account(a.id)
	return a, nil
}

func (s *Service) scanKey(row sqlstore.Scanner) (keyRow, error) {
	k := keyRow{}
	var mode, scopes, allow string
	var hash []byte
	var signature int64
	err := row.Scan(&k.id, &k.accountID, &mode, &hash, &scopes, &allow, &signature, &k.signingSecret,
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

// allowList parses a column of networks. For an invalid column, it returns a list that allows no address. That
// list has one invalid network, because an empty list would allow every address.
func (s *Service) allowList(of, list string) []netip.Prefix {
	networks, err := config.Networks(strings.Fields(list))
	if err != nil {
		s.Log.Error("an allow-list is invalid; no address is allowed", "of", of, "error", err)
		return []netip.Prefix{{}}
	}
	return networks
}

// refresh calls Refresh after a committed change. It ignores an error of Refresh, because the change is durable.
func (s *Service) refresh(ctx context.Context) {
	_ = s.Refresh(context.WithoutCancel(ctx)) // a metric counts the error; the next periodic refresh retries
}
