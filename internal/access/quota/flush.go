package quota

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"time"

	"vayu/internal/sqlstore"
)

// batch is the usage since the previous batch. One transaction writes it. All instances write the rows of a batch in
// the same order, so that row locks cannot deadlock.
type batch struct {
	id       string // unique; a row of table usage_flush
	accounts []*Account
	rows     [][]any // of table usage_day
	keyRows  [][]any // of table usage_key_day
	months   []*monthRow
	keys     [][]any // of table api_key_use
}

// monthRow is an increment of a row of table quota_period. It is written even if the increment is 0, because the write
// compares the total with the limit, which may have been lowered.
type monthRow struct {
	*month

	limit int64 // limit of the account's plan; 0 for no limit
	added int64
	total int64 // total in the store after the write
}

// excludeFlush waits for the end of a flush or a reading of totals, and prevents new ones until the returned function
// `release` is called. It returns false if ctx ends first.
func (c *Counters) excludeFlush(ctx context.Context) (release func(), ok bool) {
	select {
	case c.flushing <- struct{}{}:
		return func() { <-c.flushing }, true
	case <-ctx.Done():
		return nil, false
	}
}

// Flush writes the counted usage as a batch, in one transaction, and merges the totals of other instances. If the write
// fails, the next Flush first repeats the batch. If the reply to COMMIT was lost, the batch may be in the store, which
// then ignores the repetition. The error is an error of the store or of ctx. Flush returns within five seconds.
func (c *Counters) Flush(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, flushTimeout)
	defer done()
	release, ok := c.excludeFlush(ctx)
	if !ok {
		return ctx.Err()
	}
	defer release()
	if c.failed != nil {
		if err := c.store(ctx, c.failed); err != nil {
			return err
		}
	}
	if b := c.collect(); len(b.accounts) > 0 {
		return c.store(ctx, b)
	}
	return nil
}

// store writes a batch. If the write fails and dropMissing removes usage, store writes once more. A batch that is not
// written stays in c.failed, and the next flush repeats it. The caller excludes other flushes.
func (c *Counters) store(ctx context.Context, b *batch) error {
	err := c.DB.Update(ctx, func(tx *sqlstore.Tx) error { return b.write(tx, c) })
	if err != nil && c.dropMissing(ctx, b) {
		err = c.DB.Update(ctx, func(tx *sqlstore.Tx) error { return b.write(tx, c) })
	}
	if err != nil {
		c.failed = b
		c.metrics.flushFailures.Inc()
		return fmt.Errorf("writing usage: %w", err)
	}
	c.failed = nil
	b.end()
	return nil
}

// collect returns a batch of the pending usage of all accounts.
func (c *Counters) collect() *batch {
	b := &batch{id: rand.Text()}
	c.mu.Lock()
	b.accounts, c.dirty = c.dirty, nil
	c.mu.Unlock()
	for _, a := range b.accounts {
		a.mu.Lock()
		a.batch, a.writing, a.pending, a.dirty = b.id, a.pending, newUsage(), false
		a.mu.Unlock()
	}
	b.build()
	return b
}

// build makes the rows of a batch from the usage of its accounts.
func (b *batch) build() {
	b.rows, b.keyRows, b.months, b.keys = nil, nil, nil, nil
	slices.SortFunc(b.accounts, func(x, y *Account) int { return cmp.Compare(x.id, y.id) })
	for _, a := range b.accounts {
		months := map[*month]*monthRow{}
		all := newUsage() // usage of all keys together
		for _, r := range slices.SortedFunc(maps.Keys(a.writing.rows), usageRow.compare) {
			s := a.writing.rows[r]
			b.keyRows = append(b.keyRows, []any{
				a.id, r.world().String(), r.date, r.key, r.operation(), s.calls, s.failed, s.counted, r.expires(),
			})
			r.key = ""
			all.add(r, *s)
		}
		for _, r := range slices.SortedFunc(maps.Keys(all.rows), usageRow.compare) {
			s := all.rows[r]
			b.rows = append(b.rows, []any{a.id, r.world().String(), r.date, r.operation(), s.calls, s.failed, s.counted})
			if r.month == nil {
				continue
			}
			part := months[r.month]
			if part == nil {
				part = &monthRow{month: r.month, limit: a.limit.Load()}
				months[r.month] = part
				b.months = append(b.months, part)
			}
			part.added += s.counted
		}
		for _, key := range slices.Sorted(maps.Keys(a.writing.keys)) {
			b.keys = append(b.keys, []any{key, time.Unix(a.writing.keys[key], 0).UnixMicro()})
		}
	}
}

// end discards the written usage after a commit, and merges the stored totals.
func (b *batch) end() {
	for _, a := range b.accounts {
		a.mu.Lock()
		a.writing = usage{}
		a.mu.Unlock()
	}
	for _, m := range b.months {
		m.mergeTotal(m.total, m.added)
	}
}

// write stores the batch in tx: calls by day, calls by key and day, counted calls by month, and the last use of keys.
// If an earlier transaction has stored the batch, write changes nothing.
func (b *batch) write(tx *sqlstore.Tx, c *Counters) error {
	now := c.Now()
	n, err := tx.Exec("INSERT INTO usage_flush (id, expires_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING", b.id, now.Add(flushKept).UnixMicro())
	if err != nil || n == 0 {
		return err
	}
	if err := upsert(tx, &addUsage, b.rows, nil); err != nil {
		return fmt.Errorf("adding to usage_day: %w", err)
	}
	if err := upsert(tx, &addKeyUsage, b.keyRows, nil); err != nil {
		return fmt.Errorf("adding to usage_key_day: %w", err)
	}
	if err := b.writeMonths(tx, c.Events, now.UnixMicro()); err != nil {
		return err
	}
	if err := upsert(tx, &setKeyUse, b.keys, nil); err != nil {
		return fmt.Errorf("writing api_key_use: %w", err)
	}
	return nil
}

// writeMonths adds the batch to the stored usage of each account and month. If that usage has reached a mark (80 or 100
// per cent of the quota) that is not announced yet, writeMonths announces the mark with an event.
func (b *batch) writeMonths(tx *sqlstore.Tx, events Events, now int64) error {
	rows, parts := make([][]any, len(b.months)), map[[2]string]*monthRow{}
	for i, m := range b.months {
		rows[i] = []any{m.account.id, m.period, m.added, now}
		parts[[2]string{m.account.id, m.period}] = m
	}
	var announcements []func() error // run after the query, because its rows are still being read
	err := upsert(tx, &addQuota, rows, func(row sqlstore.Scanner) error {
		var id [2]string
		var used int64
		var announced [len(marks)]bool
		if err := row.Scan(&id[0], &id[1], &used, &announced[0], &announced[1]); err != nil {
			return err
		}
		m := parts[id]
		m.total = used
		for i := range marks {
			if m.limit != 0 && !announced[i] && marks[i].reached(used, m.limit) {
				announcements = append(announcements, func() error { return m.announce(tx, events, i, m.limit, used, now) })
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("adding to quota_period: %w", err)
	}
	for _, announce := range announcements {
		if err := announce(); err != nil {
			return err
		}
	}
	return nil
}
