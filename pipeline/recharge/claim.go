package recharge

import (
	"context"
	"fmt"
	"time"

	"vayu/internal/crash"
	"vayu/internal/state"
)

// What is due of a connection: single recharges and those of batches apart, each
// along an index of its own, because batches may have only some of the slots.
const (
	selectDue  = "SELECT id, sent FROM recharge WHERE mode = $1 AND provider = $2 AND due_at <= $3 AND batch_id "
	selectNext = "SELECT due_at FROM recharge WHERE mode = $1 AND provider = $2 AND due_at > $3 AND batch_id "

	dueSingle, dueBatch   = selectDue + "= '' ORDER BY due_at LIMIT $4", selectDue + "<> '' ORDER BY due_at LIMIT $4"
	nextSingle, nextBatch = selectNext + "= '' ORDER BY due_at LIMIT 1", selectNext + "<> '' ORDER BY due_at LIMIT 1"
)

// A claim leases what is still due: somebody else may have been faster. What was
// not sent before is sent under this lease, and noted as sent before it can be.
var (
	leaseFirst = state.Group(4, "UPDATE recharge SET due_at = $1, token = $2, sent = 1, sent_at = $4 WHERE sent = 0 AND due_at <= $3 AND id IN (",
		"?", ") RETURNING "+columns)
	leaseAgain = state.Group(3, "UPDATE recharge SET due_at = $1, token = $2 WHERE sent = 1 AND due_at <= $3 AND id IN (",
		"?", ") RETURNING "+columns)
)

// found is what is due, by whether it was sent before.
type found struct {
	ids  [2][]any
	most bool // there may be more
}

// size is how many there are.
func (f *found) size() int { return len(f.ids[0]) + len(f.ids[1]) }

// find looks for so many recharges that are due; for none it says whether there are
// some.
func (s *Service) find(ctx context.Context, l *line, query string, now time.Time, most int) (f found, err error) {
	if most <= 0 {
		f, err = s.find(ctx, l, query, now, 1)
		return found{most: f.most}, err
	}
	err = state.Each(s.DB.View(ctx), func(row state.Scanner) error {
		var id string
		var sent int
		err := row.Scan(&id, &sent)
		f.ids[sent] = append(f.ids[sent], id)
		return err
	}, query, l.World.String(), l.Name, now.UnixMicro(), most)
	f.most = f.size() == most
	return f, err
}

// claim leases recharges that were found, and returns the calls that are to be made
// for them.
func (s *Service) claim(ctx context.Context, l *line, all []found, own lease, now time.Time) (jobs []job, err error) {
	err = s.DB.Update(ctx, func(tx *state.Tx) error {
		jobs = jobs[:0]
		for _, f := range all {
			for sent, statement := range [...]*state.Grouped{&leaseFirst, &leaseAgain} {
				err := statement.Each(len(f.ids[sent]), func(text string, from, to int) error {
					args := []any{own.until.UnixMicro(), own.token, now.UnixMicro()}
					if sent == 0 {
						args = append(args, own.latest(l).UnixMicro())
					}
					args = append(args, f.ids[sent][from:to]...)
					return state.Each(tx, func(row state.Scanner) error {
						r, err := scanRecord(row)
						jobs = append(jobs, job{line: l, rec: r, call: nextCall(&r, sent == 0), lease: own})
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
		return nil, fmt.Errorf("claiming recharges of %s: %w", l.Name, err)
	}
	crash.Point(crash.RechargeClaimed)
	return jobs, nil
}

// nextDue is when something is due that is not yet; zero for nothing.
func (s *Service) nextDue(ctx context.Context, l *line, now time.Time) (next time.Time, err error) {
	view := s.DB.View(ctx)
	for _, query := range [...]string{nextSingle, nextBatch} {
		err := state.Each(view, func(row state.Scanner) error {
			var micros int64
			err := row.Scan(&micros)
			if at := time.UnixMicro(micros).UTC(); next.IsZero() || at.Before(next) {
				next = at
			}
			return err
		}, query, l.World.String(), l.Name, now.UnixMicro())
		if err != nil {
			return time.Time{}, err
		}
	}
	return next, nil
}

// freeLeases makes due at once what a process has leased that is not there any more:
// a store in a directory belongs to one process. What that was sending it sends no
// more.
func (s *Service) freeLeases(ctx context.Context) error {
	if s.DB.Name() != "sqlite" {
		return nil // others may be at work; leases end by themselves
	}
	now := s.Now().UnixMicro()
	return s.DB.Update(ctx, func(tx *state.Tx) error {
		for _, l := range s.lines {
			for _, kind := range [...]string{"= ''", "<> ''"} {
				if _, err := tx.Exec("UPDATE recharge SET due_at = $3, token = '', sent_at = CASE WHEN sent_at > $3 THEN $3 ELSE sent_at END WHERE mode = $1 AND provider = $2 AND due_at > $3 AND batch_id "+kind+
					" AND token <> '' AND substr(token, 1, $4) <> $5", l.World.String(), l.Name, now, len(s.token), s.token); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
