package access

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// batch is what one transaction writes: the calls since the last one that
// succeeded.
type batch struct {
	days   []*daily
	lines  []line
	months []*monthPart
	keys   []keyUse
}

// line is what is added to a line of usage_day.
type line struct {
	day                    *daily
	operation              string
	counter                *counter
	calls, failed, counted int64
}

// monthPart is what is added to a quota_period. It is there also when nothing
// is, because a plan that was made smaller is announced with the next call.
type monthPart struct {
	*month

	limit int64 // of the account's plan; 0 for no limit
	more  int64
	total int64 // in the store afterwards
}

// keyUse is when a key was last used.
type keyUse struct {
	grant  *grant
	usedAt int64 // microseconds
}

// flush writes what was counted, in one transaction, and learns what other
// instances have. When it fails, everything stays to be written by the next.
//
// A server that breaks the connection at the commit leaves open whether it
// happened. It is then written again: such a flush may count twice, because
// usage that is lost cannot be found again, and usage that is there twice shows
// beside the log.
func (s *Service) flush(ctx context.Context) error {
	l := &s.ledger
	l.writing.Lock()
	defer l.writing.Unlock()
	b := s.collect()
	if b == nil {
		return nil
	}
	err := s.DB.Update(ctx, func(tx *sqlstore.Tx) error { return b.write(tx, s) })
	if err != nil && s.dropGone(ctx, b) {
		err = s.DB.Update(ctx, func(tx *sqlstore.Tx) error { return b.write(tx, s) })
	}
	if err == nil {
		b.settle()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
	if err != nil {
		s.metrics.flushFailures.Inc()
		b.putBack(l)
		return fmt.Errorf("writing usage: %w", err)
	}
	return nil
}

// collect takes what is to be written; nil when there is nothing. The caller
// holds ledger.writing.
func (s *Service) collect() *batch {
	l := &s.ledger
	l.mu.Lock()
	if len(l.days) == 0 && len(l.keys) == 0 {
		l.mu.Unlock()
		return nil
	}
	b := &batch{days: l.days}
	keys := l.keys
	l.days, l.keys = nil, nil
	l.begin(b)
	for _, d := range b.days {
		d.dirty.Store(false)
	}
	l.mu.Unlock()
	for _, g := range keys {
		g.memory.dirty.Store(false)
		b.keys = append(b.keys, keyUse{g, time.Unix(g.memory.usedAt.Load(), 0).UnixMicro()})
	}
	s.fill(b)
	return b
}

// fill makes the rows of a batch from its days.
func (s *Service) fill(b *batch) {
	b.lines, b.months = nil, nil
	months := map[*month]*monthPart{}
	for _, d := range b.days {
		counted := b.addDay(d)
		if d.month == nil {
			continue
		}
		part := months[d.month]
		if part == nil {
			part = &monthPart{month: d.month}
			if holder := s.book.account(d.account); holder != nil {
				part.limit = holder.limit
			}
			months[d.month] = part
			b.months = append(b.months, part)
		}
		part.more += counted
	}
	b.sort()
}

// addDay adds the lines of a day and returns what they count.
func (b *batch) addDay(d *daily) (counted int64) {
	for o, c := range *d.counters.Load() {
		l := line{
			day: d, operation: o.String(), counter: c,
			calls:   c.now.calls.Load() - c.written.calls.Load(),
			failed:  c.now.failed.Load() - c.written.failed.Load(),
			counted: c.now.counted.Load() - c.written.counted.Load(),
		}
		if l.calls != 0 || l.failed != 0 || l.counted != 0 {
			b.lines = append(b.lines, l)
			counted += l.counted
		}
	}
	return counted
}

// sort brings rows into the one order in which every instance locks them, so
// that two never wait for each other.
func (b *batch) sort() {
	slices.SortFunc(b.lines, func(x, y line) int {
		return cmp.Or(cmp.Compare(x.day.account, y.day.account), cmp.Compare(x.day.world, y.day.world),
			cmp.Compare(x.day.date, y.day.date), cmp.Compare(x.operation, y.operation))
	})
	slices.SortFunc(b.months, func(x, y *monthPart) int {
		return cmp.Or(cmp.Compare(x.account, y.account), cmp.Compare(x.period, y.period))
	})
	slices.SortFunc(b.keys, func(x, y keyUse) int { return cmp.Compare(x.grant.id, y.grant.id) })
}

// settle makes memory agree with what was written.
func (b *batch) settle() {
	for i := range b.lines {
		l := &b.lines[i]
		l.counter.written.calls.Add(l.calls)
		l.counter.written.failed.Add(l.failed)
		l.counter.written.counted.Add(l.counted)
	}
	for _, m := range b.months {
		m.learn(m.total, m.more)
	}
}

// putBack leaves everything for the next batch. The caller holds l.mu.
func (b *batch) putBack(l *ledger) {
	for _, d := range b.days {
		if d.dirty.CompareAndSwap(false, true) {
			l.days = append(l.days, d)
		}
	}
	for _, k := range b.keys {
		if k.grant.memory.dirty.CompareAndSwap(false, true) {
			l.keys = append(l.keys, k.grant)
		}
	}
}

// write is the transaction.
func (b *batch) write(tx *sqlstore.Tx, s *Service) error {
	lines := make([][]any, len(b.lines))
	for i, l := range b.lines {
		lines[i] = []any{l.day.account, l.day.world.String(), l.day.date, l.operation, l.calls, l.failed, l.counted}
	}
	if err := upsert(tx, &addUsage, lines, nil); err != nil {
		return fmt.Errorf("adding to usage_day: %w", err)
	}
	now := s.Now().UnixMicro()
	if err := b.writeMonths(tx, s.Events, now); err != nil {
		return err
	}
	keys := make([][]any, len(b.keys))
	for i, k := range b.keys {
		keys[i] = []any{k.grant.id, k.usedAt}
	}
	if err := upsert(tx, &setKeyUse, keys, nil); err != nil {
		return fmt.Errorf("writing api_key_use: %w", err)
	}
	return nil
}

// writeMonths adds to the quotas and announces those that have crossed a mark.
func (b *batch) writeMonths(tx *sqlstore.Tx, events Events, now int64) error {
	rows, parts := make([][]any, len(b.months)), map[[2]string]*monthPart{}
	for i, m := range b.months {
		rows[i] = []any{m.account, m.period, m.more, now}
		parts[[2]string{m.account, m.period}] = m
	}
	var crossed []announcement
	err := upsert(tx, &addQuota, rows, func(row sqlstore.Scanner) error {
		var account, period string
		var used int64
		var warned, exceeded bool
		if err := row.Scan(&account, &period, &used, &warned, &exceeded); err != nil {
			return err
		}
		m := parts[[2]string{account, period}]
		m.total = used
		if m.limit == 0 {
			return nil
		}
		for i, announced := range [len(marks)]bool{warned, exceeded} {
			if !announced && marks[i].reached(used, m.limit) {
				crossed = append(crossed, announcement{m, i})
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("adding to quota_period: %w", err)
	}
	for _, a := range crossed {
		if err := a.make(tx, events, now); err != nil {
			return err
		}
	}
	return nil
}

// mark is one of the marks of a quota_period (CONTRACT 2): a percentage of the quota
// that is announced when it is used.
type mark struct {
	set       string
	event     schema.EventType
	threshold int64 // per cent
}

// marks are in the order in which they are reached.
var marks = [...]mark{
	{"UPDATE quota_period SET warned_at = $1 WHERE account_id = $2 AND period = $3 AND warned_at IS NULL", schema.EventQuotaWarning, 80},
	{"UPDATE quota_period SET exceeded_at = $1 WHERE account_id = $2 AND period = $3 AND exceeded_at IS NULL", schema.EventQuotaExceeded, 100},
}

// reached reports whether so many calls of a limit reach the mark.
func (m *mark) reached(used, limit int64) bool { return used*100 >= limit*m.threshold }

// announcement is a mark that a month has crossed.
type announcement struct {
	*monthPart

	mark int // of marks
}

// make sets the mark and appends the event. Who finds the mark set already says
// nothing: the event happens once per month, whatever plans and instances do.
func (a announcement) make(tx *sqlstore.Tx, events Events, now int64) error {
	m := &marks[a.mark]
	set, err := tx.Exec(m.set, now, a.account, a.period)
	if err != nil {
		return fmt.Errorf("marking quota_period: %w", err)
	}
	if set == 0 || events == nil {
		return nil
	}
	data := quotaFigures(a.month, a.limit, a.usedAt(a.mark, a.limit, a.total))
	data.Threshold = m.threshold
	if _, err := events.Append(tx, a.account, schema.Live, m.event, data); err != nil {
		return fmt.Errorf("announcing %s: %w", m.event, err)
	}
	return nil
}
