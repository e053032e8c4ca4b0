package quota

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// batch is the usage since the last successful flush, which one transaction writes.
type batch struct {
	days   []*day
	rows   []usageRow
	months []*monthRow
	keys   []keyRow
}

// usageRow is an increment of a row of table usage_day.
type usageRow struct {
	day                    *day
	operation              string
	counter                *counter
	calls, failed, counted int64
}

// monthRow is an increment of a row of table quota_period. An increment of 0 is written too: the write compares
// the total with the limit, which may have been lowered.
type monthRow struct {
	*month

	limit int64 // limit of the account's plan; 0 for no limit
	added int64
	total int64 // total in the store after the write
}

// keyRow is the last use of a key, a row of table api_key_use.
type keyRow struct {
	key    *KeyUse
	usedAt int64 // microseconds
}

// Flush writes the counted usage in one transaction, and merges the totals of other instances.
// After an error, the next flush includes the same usage.
//
// If the connection breaks at COMMIT, the outcome is unknown and the batch is written again. The store
// may then count the calls of the batch twice. Lost usage could not be recovered, whereas usage that was
// counted twice can be found by comparison with the log.
func (l *Counters) Flush(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, flushTimeout)
	defer done()
	l.flushing.Lock()
	defer l.flushing.Unlock()
	b := l.collect()
	if b == nil {
		return nil
	}
	err := l.DB.Update(ctx, func(tx *sqlstore.Tx) error { return b.write(tx, l) })
	if err != nil && l.dropMissing(ctx, b) {
		err = l.DB.Update(ctx, func(tx *sqlstore.Tx) error { return b.write(tx, l) })
	}
	if err == nil {
		b.markWritten()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endFlush()
	if err != nil {
		l.metrics.flushFailures.Inc()
		b.requeue(l)
		return fmt.Errorf("writing usage: %w", err)
	}
	return nil
}

// collect returns the batch to write; nil if there is no usage to write. The caller holds l.flushing.
func (l *Counters) collect() *batch {
	l.mu.Lock()
	if len(l.days) == 0 && len(l.keys) == 0 {
		l.mu.Unlock()
		return nil
	}
	b := &batch{days: l.days}
	keys := l.keys
	l.days, l.keys = nil, nil
	l.beginFlush(b)
	for _, d := range b.days {
		d.dirty.Store(false)
	}
	l.mu.Unlock()
	for _, k := range keys {
		k.dirty.Store(false)
		b.keys = append(b.keys, keyRow{k, time.Unix(k.usedAt.Load(), 0).UnixMicro()})
	}
	b.build()
	return b
}

// build makes the rows of a batch from its days.
func (b *batch) build() {
	b.rows, b.months = nil, nil
	months := map[*month]*monthRow{}
	for _, d := range b.days {
		counted := b.addDay(d)
		if d.month == nil {
			continue
		}
		part := months[d.month]
		if part == nil {
			part = &monthRow{month: d.month, limit: d.account.limit.Load()}
			months[d.month] = part
			b.months = append(b.months, part)
		}
		part.added += counted
	}
	b.sort()
}

// addDay adds the unwritten usage of a day to b.rows. It returns the part that counts towards the quota.
func (b *batch) addDay(d *day) (counted int64) {
	for o, c := range *d.counters.Load() {
		l := usageRow{
			day: d, operation: o.String(), counter: c,
			calls:   c.now.calls.Load() - c.written.calls.Load(),
			failed:  c.now.failed.Load() - c.written.failed.Load(),
			counted: c.now.counted.Load() - c.written.counted.Load(),
		}
		if l.calls != 0 || l.failed != 0 || l.counted != 0 {
			b.rows = append(b.rows, l)
			counted += l.counted
		}
	}
	return counted
}

// sort brings rows into one order for all instances, so that row locks cannot deadlock.
func (b *batch) sort() {
	slices.SortFunc(b.rows, func(x, y usageRow) int {
		return cmp.Or(cmp.Compare(x.day.account.id, y.day.account.id), cmp.Compare(x.day.world, y.day.world),
			cmp.Compare(x.day.date, y.day.date), cmp.Compare(x.operation, y.operation))
	})
	slices.SortFunc(b.months, func(x, y *monthRow) int {
		return cmp.Or(cmp.Compare(x.account, y.account), cmp.Compare(x.period, y.period))
	})
	slices.SortFunc(b.keys, func(x, y keyRow) int { return cmp.Compare(x.key.key, y.key.key) })
}

// markWritten subtracts a committed batch from the unwritten usage, and merges the stored totals.
func (b *batch) markWritten() {
	for i := range b.rows {
		l := &b.rows[i]
		l.counter.written.calls.Add(l.calls)
		l.counter.written.failed.Add(l.failed)
		l.counter.written.counted.Add(l.counted)
	}
	for _, m := range b.months {
		m.mergeTotal(m.total, m.added)
	}
}

// requeue includes the usage of a failed batch in the next batch. The caller holds l.mu.
func (b *batch) requeue(l *Counters) {
	for _, d := range b.days {
		if d.dirty.CompareAndSwap(false, true) {
			l.days = append(l.days, d)
		}
	}
	for _, k := range b.keys {
		if k.key.dirty.CompareAndSwap(false, true) {
			l.keys = append(l.keys, k.key)
		}
	}
}

// write stores the batch in tx: calls by day, quotas by month, and the last use of keys.
func (b *batch) write(tx *sqlstore.Tx, l *Counters) error {
	lines := make([][]any, len(b.rows))
	for i, r := range b.rows {
		lines[i] = []any{r.day.account.id, r.day.world.String(), r.day.date, r.operation, r.calls, r.failed, r.counted}
	}
	if err := upsert(tx, &addUsage, lines, nil); err != nil {
		return fmt.Errorf("adding to usage_day: %w", err)
	}
	now := l.Now().UnixMicro()
	if err := b.writeMonths(tx, l.Events, now); err != nil {
		return err
	}
	keys := make([][]any, len(b.keys))
	for i, k := range b.keys {
		keys[i] = []any{k.key.key, k.usedAt}
	}
	if err := upsert(tx, &setKeyUse, keys, nil); err != nil {
		return fmt.Errorf("writing api_key_use: %w", err)
	}
	return nil
}

// writeMonths adds to the usage of each month, and announces the marks (80, 100 per cent) that usage reaches.
func (b *batch) writeMonths(tx *sqlstore.Tx, events Events, now int64) error {
	rows, parts := make([][]any, len(b.months)), map[[2]string]*monthRow{}
	for i, m := range b.months {
		rows[i] = []any{m.account, m.period, m.added, now}
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
		if err := a.publish(tx, events, now); err != nil {
			return err
		}
	}
	return nil
}

// mark is a percentage of the quota. Once per month, an event announces that usage reaches the mark.
type mark struct {
	set       string
	event     schema.EventType
	threshold int64 // per cent
}

// marks are in ascending order.
var marks = [...]mark{
	{"UPDATE quota_period SET warned_at = $1 WHERE account_id = $2 AND period = $3 AND warned_at IS NULL", schema.EventQuotaWarning, 80},
	{"UPDATE quota_period SET exceeded_at = $1 WHERE account_id = $2 AND period = $3 AND exceeded_at IS NULL", schema.EventQuotaExceeded, 100},
}

// reached reports whether used/limit is at least the mark.
func (m *mark) reached(used, limit int64) bool { return used*100 >= limit*m.threshold }

// announcement is an event to publish: the usage of a month has reached a mark.
type announcement struct {
	*monthRow

	mark int // index into marks
}

// publish records that the mark was announced, and appends the event. If the mark was announced before, publish
// does nothing. So the event occurs once per month, even if the plan changes or several instances count.
func (a announcement) publish(tx *sqlstore.Tx, events Events, now int64) error {
	m := &marks[a.mark]
	set, err := tx.Exec(m.set, now, a.account, a.period)
	if err != nil {
		return fmt.Errorf("marking quota_period: %w", err)
	}
	if set == 0 || events == nil {
		return nil
	}
	data := a.wire(a.limit, a.usedAt(a.mark, a.limit, a.total))
	data.Threshold = m.threshold
	if _, err := events.Append(tx, a.account, schema.Live, m.event, data); err != nil {
		return fmt.Errorf("announcing %s: %w", m.event, err)
	}
	return nil
}
