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
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// What is promised is that a revoked key is refused, and a quota shared, within
// a second. A look each 250 ms leaves room for a slow one; writing each 400 ms
// and reading totals each 200 ms makes 600 ms between instances.
const (
	lookEvery   = 250 * time.Millisecond
	totalsEvery = 200 * time.Millisecond
	writeEvery  = 2 // readings of totals
	// lookMost ends a look at a store that hangs, so that the next finds it well.
	lookMost = 2 * time.Second
	// writeMost is how long a write may wait for its turn, the last one too.
	writeMost = 5 * time.Second
)

// stateStore is what outages name.
const stateStore = "access: the state store"

// follow keeps the book up to date until ctx ends.
func (s *Service) follow(ctx context.Context) {
	away := failurelog.New(s.Log, stateStore, "looking for changed keys", "those known go on", nil)
	every(ctx, lookEvery, func() { away.Tell(ctx, s.Refresh(ctx)) })
}

// writeUsage writes what was counted, and reads what others have, until ctx
// ends.
func (s *Service) writeUsage(ctx context.Context) {
	reading := failurelog.New(s.Log, stateStore, "reading quotas", "what this instance counts goes on", nil)
	writing := failurelog.New(s.Log, stateStore, "writing usage", "it is kept in memory", nil)
	tick := 0
	every(ctx, totalsEvery, func() {
		reading.Tell(ctx, s.readTotals(ctx))
		if tick++; tick%writeEvery == 0 {
			limit, done := context.WithTimeout(ctx, writeMost)
			defer done()
			writing.Tell(ctx, s.flush(limit))
		}
	})
}

// writeRest writes what is left when the service stops.
func (s *Service) writeRest(ctx context.Context) error {
	limit, done := context.WithTimeout(context.WithoutCancel(ctx), writeMost)
	defer done()
	return s.flush(limit)
}

// begin reads everything for the first time, and tries again until it can.
func (s *Service) begin(ctx context.Context) {
	away := failurelog.New(s.Log, stateStore, "reading keys for the first time", "no call is answered", nil)
	for ctx.Err() == nil {
		err := s.Refresh(ctx)
		if err == nil {
			err = s.readTotals(ctx)
		}
		away.Tell(ctx, err)
		if err == nil {
			close(s.known)
			return
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
		}
	}
}

// every calls do at each tick until ctx ends.
func every(ctx context.Context, period time.Duration, do func()) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ticker.C:
			do()
		case <-ctx.Done():
		}
	}
}

// Refresh looks at the store now. Who has changed a key or an account in this
// process calls it after the change, so that it is in force at once here; other
// instances find it within a second. When it fails, the next look makes up for
// it.
func (s *Service) Refresh(ctx context.Context) error {
	limit, done := context.WithTimeout(ctx, lookMost) // waiting for one's turn included
	defer done()
	s.looking.Lock()
	defer s.looking.Unlock()
	err := s.look(s.DB.View(limit))
	s.sweep()
	switch {
	case err == nil:
		s.away.Store(false)
	case ctx.Err() == nil: // else nobody waits for it any more
		s.away.Store(true)
		s.metrics.lookFailures.Inc()
	}
	if err != nil {
		return fmt.Errorf("looking at keys and accounts: %w", err)
	}
	s.lookedAt.Store(s.Now().UnixMicro())
	return nil
}

// Looks for keys that are not known, in a second and at once: enough for people
// and scripts that use a key as soon as it is made, and nothing to the store
// when somebody tries keys of his own making.
const (
	seekRate  = 20
	seekBurst = 5
)

// seek finds a key, or nil. One that is not in the book may have been made a
// moment ago by the command line or another instance, so the store is looked at
// before it is refused; but not when it did not answer the last time, for then
// every wrong key would wait.
func (s *Service) seek(ctx context.Context, hash [sha256.Size]byte) *grant {
	if g := s.book.find(hash); g != nil {
		return g
	}
	if g := s.book.ended.find(hash, s.Now().UnixMicro()); g != nil {
		return g
	}
	if s.away.Load() || !s.seeking.Allow() || s.Refresh(ctx) != nil {
		return nil
	}
	if g := s.book.find(hash); g != nil {
		return g
	}
	limit, done := context.WithTimeout(ctx, lookMost)
	defer done()
	g, err := s.seekEnded(limit, selectEndedByHash, hash[:])
	if err != nil {
		s.metrics.lookFailures.Inc()
	}
	return g
}

// look reads the rows that are newer than the book, when there are any. Keys
// are read before accounts, so that the account of every key is among them.
func (s *Service) look(view sqlstore.View) error {
	n := news{}
	if err := view.QueryRow("SELECT n FROM access_revision WHERE id = 1").Scan(&n.revision); err != nil {
		return err
	}
	since, begun := s.book.at()
	if begun && n.revision == since {
		return nil
	}
	if n.revision < since { // another store took the place of the one we knew
		n.whole, since = true, 0
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
	s.book.take(n, s.Now().UnixMicro(), s.newBuckets)
	return nil
}

func (s *Service) scanAccount(row sqlstore.Scanner) (*held, error) {
	a, allow := &held{}, ""
	if err := row.Scan(&a.id, &a.name, &a.plan, &allow, &a.createdAt, &a.revision); err != nil {
		return nil, err
	}
	a.allow = s.allowList(a.id, allow)
	a.limit = s.limitOf(a.plan)
	a.tally = s.ledger.tally(a.id)
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

// allowList reads a column of networks. One that cannot be read allows nobody:
// taking it for an empty one would allow everybody.
func (s *Service) allowList(of, words string) []netip.Prefix {
	networks, err := config.Networks(strings.Fields(words))
	if err != nil {
		s.Log.Error("an allow-list cannot be read; nobody is allowed", "of", of, "error", err)
		return []netip.Prefix{{}}
	}
	return networks
}

// clockSkew is by how much clocks of instances may differ: rows that were
// changed so long before the last reading are read again.
const clockSkew = 10 * time.Second

// readTotals learns what all instances have counted of this month: all of it
// when the month is new here, else what was changed lately.
func (s *Service) readTotals(ctx context.Context) error {
	limit, done := context.WithTimeout(ctx, lookMost)
	defer done()
	l := &s.ledger
	l.writing.Lock()
	defer l.writing.Unlock()
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
		if m := l.tally(account).monthAt(now); m.period == period {
			m.learn(used, 0)
		}
		return nil
	}, "SELECT account_id, used FROM quota_period WHERE period = $1 AND changed_at >= $2", period, since)
	if err != nil {
		return fmt.Errorf("reading quotas: %w", err)
	}
	l.period, l.readAt = period, now
	return nil
}

// age is how long ago the store was last looked at with success; since the
// service was made when never.
func (s *Service) age() time.Duration {
	return s.Now().Sub(time.UnixMicro(s.lookedAt.Load()))
}

// refresh is Refresh for a change that is made whatever comes of the look.
func (s *Service) refresh(ctx context.Context) {
	_ = s.Refresh(context.WithoutCancel(ctx)) // counted; follow tells of it
}
