package upstream

import (
	"context"
	"fmt"
	"time"

	"vayu/internal/sqlstore"
)

// statements are those of a table. What is due of single requests and of records of
// batches is found apart, each along an index of its own, because batches may have
// only some of the slots.
//
// A claim leases what is still due: somebody else may have been faster. What was not
// sent before is sent under this lease, and noted as sent before it can be.
type statements struct {
	dueSingle, dueBatch, nextSingle, nextBatch string
	leaseFirst, leaseAgain                     sqlstore.Grouped
	free                                       [2]string
}

func statementsOf(table, columns string) statements {
	due := "SELECT id, sent FROM " + table + " WHERE mode = $1 AND provider = $2 AND due_at <= $3 AND batch_id "
	next := "SELECT due_at FROM " + table + " WHERE mode = $1 AND provider = $2 AND due_at > $3 AND batch_id "
	free := "UPDATE " + table + " SET due_at = $3, token = '', sent_at = CASE WHEN sent_at > $3 THEN $3 ELSE sent_at END " +
		"WHERE mode = $1 AND provider = $2 AND due_at > $3 AND token <> '' AND substr(token, 1, $4) <> $5 AND batch_id "
	return statements{
		dueSingle: due + "= '' ORDER BY due_at LIMIT $4", dueBatch: due + "<> '' ORDER BY due_at LIMIT $4",
		nextSingle: next + "= '' ORDER BY due_at LIMIT 1", nextBatch: next + "<> '' ORDER BY due_at LIMIT 1",
		leaseFirst: sqlstore.Group(4, "UPDATE "+table+" SET due_at = $1, token = $2, sent = 1, sent_at = $4 WHERE sent = 0 AND due_at <= $3 AND id IN (",
			"?", ") RETURNING batch_id <> '', "+columns),
		leaseAgain: sqlstore.Group(3, "UPDATE "+table+" SET due_at = $1, token = $2 WHERE sent = 1 AND due_at <= $3 AND id IN (",
			"?", ") RETURNING batch_id <> '', "+columns),
		free: [2]string{free + "= ''", free + "<> ''"},
	}
}

// Queries are those by which loops find what is due, each to be asked with the world,
// the provider, a time in microseconds and, the first of each, a limit; for tests of
// their plans.
func (t Table[R]) Queries() (single, batch [2]string) {
	s := statementsOf(t.Name, t.Columns)
	return [2]string{s.dueSingle, s.nextSingle}, [2]string{s.dueBatch, s.nextBatch}
}

// found is what is due, by whether it was sent before.
type found struct {
	ids  [2][]any
	most bool // there may be more
}

// size is how many there are.
func (f *found) size() int { return len(f.ids[0]) + len(f.ids[1]) }

// first is the first so many of what was found.
func (f *found) first(n int) found {
	out := found{ids: f.ids}
	for sent := range out.ids {
		out.ids[sent] = f.ids[sent][:min(n, len(f.ids[sent]))]
		n -= len(out.ids[sent])
	}
	return out
}

// find looks for so many rows that are due; for none it says whether there are some.
func (s *Lines[R]) find(ctx context.Context, l *Line, query string, now time.Time, most int) (f found, err error) {
	if most <= 0 {
		f, err = s.find(ctx, l, query, now, 1)
		return found{most: f.most}, err
	}
	err = sqlstore.Each(s.DB.View(ctx), func(row sqlstore.Scanner) error {
		var id string
		var sent int
		err := row.Scan(&id, &sent)
		f.ids[sent] = append(f.ids[sent], id)
		return err
	}, query, l.of.World.String(), l.of.Name, now.UnixMicro(), most)
	f.most = f.size() == most
	return f, err
}

// flagged scans what is told of a row before its columns, and leaves these to Scan.
type flagged struct {
	sqlstore.Scanner

	batch *bool
}

func (f flagged) Scan(dest ...any) error { return f.Scanner.Scan(append([]any{f.batch}, dest...)...) }

// claim leases rows that were found.
func (s *Lines[R]) claim(ctx context.Context, l *Line, all []found, own Lease, now time.Time) (claims []Claim[R], err error) {
	err = s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		claims = claims[:0]
		for _, f := range all {
			for sent, statement := range [...]*sqlstore.Grouped{&s.sql.leaseFirst, &s.sql.leaseAgain} {
				err := statement.Each(len(f.ids[sent]), func(text string, from, to int) error {
					args := []any{own.Until.UnixMicro(), own.Token, now.UnixMicro()}
					if sent == 0 {
						args = append(args, l.Latest(own).UnixMicro())
					}
					args = append(args, f.ids[sent][from:to]...)
					return sqlstore.Each(tx, func(row sqlstore.Scanner) (err error) {
						c := Claim[R]{First: sent == 0, Lease: own}
						c.Record, err = s.Table.Scan(flagged{row, &c.batch})
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
		return nil, fmt.Errorf("claiming from %s what is due of %s: %w", s.Table.Name, l.of.Name, err)
	}
	if s.Claimed != nil {
		s.Claimed()
	}
	return claims, nil
}

// nextDue is when something is due that is not yet; zero for nothing.
func (s *Lines[R]) nextDue(ctx context.Context, l *Line, now time.Time) (next time.Time, err error) {
	view := s.DB.View(ctx)
	for _, query := range [...]string{s.sql.nextSingle, s.sql.nextBatch} {
		err := sqlstore.Each(view, func(row sqlstore.Scanner) error {
			var micros int64
			err := row.Scan(&micros)
			if at := time.UnixMicro(micros).UTC(); next.IsZero() || at.Before(next) {
				next = at
			}
			return err
		}, query, l.of.World.String(), l.of.Name, now.UnixMicro())
		if err != nil {
			return time.Time{}, err
		}
	}
	return next, nil
}

// FreeLeases makes due at once what a process has leased that is not there any more: a
// store in a directory belongs to one process. What that was sending it sends no
// more.
func (s *Lines[R]) FreeLeases(ctx context.Context) error {
	if s.DB.Name() != "sqlite" {
		return nil // others may be at work; leases end by themselves
	}
	now := s.Now().UnixMicro()
	return s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		for _, l := range s.lines {
			for _, text := range s.sql.free {
				if _, err := tx.Exec(text, l.of.World.String(), l.of.Name, now, len(s.token), s.token); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
