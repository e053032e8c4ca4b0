package workqueue

import (
	"context"
	"fmt"
	"slices"
	"time"

	"vayu/internal/sqlstore"
)

// statements are the SQL statements of a table. Single requests and batch items have queries and indexes of their
// own, because batch items get only some of the slots.
//
// A claim leases only rows that are still due, because another instance may have claimed a row since the query. The
// first claim of a row sets the column "sent" before the row's call starts. After a crash, the program must therefore
// assume that the call of a row with "sent" was made.
type statements struct {
	dueSingle, dueBatch, nextSingle, nextBatch string
	leaseFirst, leaseAgain                     sqlstore.BatchStatement
	expire                                     [2]string
}

func statementsOf(table, columns string) statements {
	due := "SELECT id, sent FROM " + table + " WHERE mode = $1 AND provider = $2 AND due_at <= $3 AND batch_id "
	next := "SELECT due_at FROM " + table + " WHERE mode = $1 AND provider = $2 AND due_at > $3 AND batch_id "
	free := "UPDATE " + table + " SET due_at = $3, token = '', sent_at = CASE WHEN sent_at > $3 THEN $3 ELSE sent_at END " +
		"WHERE mode = $1 AND provider = $2 AND due_at > $3 AND token <> '' AND substr(token, 1, $4) <> $5 AND batch_id "
	return statements{
		dueSingle: due + "= '' ORDER BY due_at LIMIT $4", dueBatch: due + "<> '' ORDER BY due_at LIMIT $4",
		nextSingle: next + "= '' ORDER BY due_at LIMIT 1", nextBatch: next + "<> '' ORDER BY due_at LIMIT 1",
		leaseFirst: sqlstore.NewBatchStatement(4, "UPDATE "+table+" SET due_at = $1, token = $2, sent = 1, sent_at = $4 WHERE sent = 0 AND due_at <= $3 AND id IN (",
			"?", ") RETURNING batch_id <> '', "+columns),
		leaseAgain: sqlstore.NewBatchStatement(3, "UPDATE "+table+" SET due_at = $1, token = $2 WHERE sent = 1 AND due_at <= $3 AND id IN (",
			"?", ") RETURNING batch_id <> '', "+columns),
		expire: [2]string{free + "= ''", free + "<> ''"},
	}
}

// Queries returns the queries for single requests and for batch items, for tests of their plans. The first of each pair
// finds due rows, and the second finds the next due time. Their arguments are the world (live or sandbox), the provider
// and a time in microseconds. The first also takes a limit.
func (t Table[R]) Queries() (single, batch [2]string) {
	s := statementsOf(t.Name, t.Columns)
	return [2]string{s.dueSingle, s.nextSingle}, [2]string{s.dueBatch, s.nextBatch}
}

// dueRows are the ids of due rows: ids[0] has the rows that were never claimed, and ids[1] all others.
type dueRows struct {
	ids         [2][]any
	mayHaveMore bool // the query found as many rows as its limit
}

func (f *dueRows) size() int { return len(f.ids[0]) + len(f.ids[1]) }

// first returns at most n rows. Rows that were never claimed come first.
func (f *dueRows) first(n int) dueRows {
	out := dueRows{ids: f.ids}
	for sent := range out.ids {
		out.ids[sent] = f.ids[sent][:min(n, len(f.ids[sent]))]
		n -= len(out.ids[sent])
	}
	return out
}

// findDue returns at most `most` due rows. If `most` is not positive, findDue returns no rows, and mayHaveMore reports
// whether any row is due.
func (q *Queue[R]) findDue(ctx context.Context, p *Pool, query string, now time.Time, most int) (f dueRows, err error) {
	if most <= 0 {
		f, err = q.findDue(ctx, p, query, now, 1)
		return dueRows{mayHaveMore: f.mayHaveMore}, err
	}
	err = sqlstore.Each(q.DB.View(ctx), func(row sqlstore.Scanner) error {
		var id string
		var sent int
		err := row.Scan(&id, &sent)
		f.ids[sent] = append(f.ids[sent], id)
		return err
	}, query, p.provider.World.String(), p.provider.Name, now.UnixMicro(), most)
	f.mayHaveMore = f.size() == most
	return f, err
}

// batchFlagScanner scans rows whose first column states whether the row belongs to a batch. It stores this column in
// the field `batch`. Table.Scan reads the other columns.
type batchFlagScanner struct {
	sqlstore.Scanner

	batch *bool
}

func (f batchFlagScanner) Scan(dest ...any) error {
	return f.Scanner.Scan(append([]any{f.batch}, dest...)...)
}

// claim leases the given rows in one transaction, and returns the rows that were still due.
func (q *Queue[R]) claim(ctx context.Context, p *Pool, all []dueRows, own Lease, now time.Time) (claims []Claim[R], err error) {
	err = q.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		claims = claims[:0]
		for _, f := range all {
			for sent, statement := range [...]*sqlstore.BatchStatement{&q.sql.leaseFirst, &q.sql.leaseAgain} {
				err := statement.Each(len(f.ids[sent]), func(text string, from, to int) error {
					args := []any{own.Until.UnixMicro(), own.Token, now.UnixMicro()}
					if sent == 0 {
						args = append(args, p.LatestStart(own).UnixMicro())
					}
					args = append(args, f.ids[sent][from:to]...)
					return sqlstore.Each(tx, func(row sqlstore.Scanner) (err error) {
						c := Claim[R]{First: sent == 0, Lease: own}
						c.Record, err = q.Table.Scan(batchFlagScanner{row, &c.batch})
						claims = append(claims, c)
						return err
					}, text, args...)
				})
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("claiming due rows of %s for %s: %w", q.Table.Name, p.provider.Name, err)
	}
	if q.OnClaimed != nil {
		q.OnClaimed()
	}
	return claims, nil
}

// nextDue returns the earliest due time after `now` among the provider's rows, or the zero time if there is none.
func (q *Queue[R]) nextDue(ctx context.Context, p *Pool, now time.Time) (next time.Time, err error) {
	view := q.DB.View(ctx)
	for _, query := range [...]string{q.sql.nextSingle, q.sql.nextBatch} {
		err := sqlstore.Each(view, func(row sqlstore.Scanner) error {
			var micros int64
			err := row.Scan(&micros)
			if at := time.UnixMicro(micros).UTC(); next.IsZero() || at.Before(next) {
				next = at
			}
			return err
		}, query, p.provider.World.String(), p.provider.Name, now.UnixMicro())
		if err != nil {
			return time.Time{}, err
		}
	}
	return next, nil
}

// ExpireForeignLeases ends the leases of earlier processes, so that their rows are due now. It acts only on SQLite,
// where a single process owns the store. Earlier processes have therefore ended.
func (q *Queue[R]) ExpireForeignLeases(ctx context.Context) error {
	if q.DB.Name() != "sqlite" {
		return nil // the lease may belong to a running instance; the leases of ended instances expire
	}
	now := q.Now().UnixMicro()
	return q.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		for _, p := range q.pools {
			for _, text := range q.sql.expire {
				if _, err := tx.Exec(text, p.provider.World.String(), p.provider.Name, now, len(q.tokens.prefix), q.tokens.prefix); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// claimDue claims due rows for the free slots, starts their calls, and returns the due time of the next row. Single
// requests come first, except for the slot that is reserved for batch items.
func (q *Queue[R]) claimDue(ctx context.Context, p *Pool, now time.Time) (next time.Time, err error) {
	q.state.Lock()
	free, single, batch := p.freeSlots()
	q.state.Unlock()
	singles, err := q.findDue(ctx, p, q.sql.dueSingle, now, single)
	if err != nil {
		return next, err
	}
	batches, err := q.findDue(ctx, p, q.sql.dueBatch, now, min(batch, free-singles.size()))
	if err != nil {
		return next, err
	}
	q.state.Lock()
	slots := [2]int{p.acquireUpTo(singles.size(), false), p.acquireUpTo(batches.size(), true)}
	p.backlogged = [2]bool{singles.mayHaveMore || slots[0] < singles.size(), batches.mayHaveMore || slots[1] < batches.size()}
	hasCapacity := p.hasCapacityForBacklog()
	q.state.Unlock()
	// Due rows may still wait although a slot is free: a slot was released during the search, or the slot reserved for
	// batch items was not needed. The loop therefore polls again at once.
	if hasCapacity {
		p.Wake()
	}
	p.notifyWaiter()
	if slots[0]+slots[1] > 0 {
		if err := q.claimAndStart(ctx, p, []dueRows{singles.first(slots[0]), batches.first(slots[1])}, slots, now); err != nil {
			return next, err
		}
	}
	return q.nextDue(ctx, p, now)
}

// claimAndStart leases the rows found and starts their calls. The caller must have acquired a slot for each row.
// claimAndStart releases the slots of rows that it could not lease.
func (q *Queue[R]) claimAndStart(ctx context.Context, p *Pool, all []dueRows, slots [2]int, now time.Time) error {
	claims, err := q.claim(ctx, p, all, q.NewLease(p), now)
	begin := q.begin[slices.Index(q.pools, p)]
	for _, c := range claims {
		if c.batch {
			slots[1]--
		} else {
			slots[0]--
		}
		begin(c)
	}
	for range slots[0] {
		p.Release(false)
	}
	for range slots[1] {
		p.Release(true)
	}
	return err
}
