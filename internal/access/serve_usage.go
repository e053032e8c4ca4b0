package access

import (
	"cmp"
	"slices"
	"time"

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// usageWait is how long a question about usage waits for a writing to end. A
	// store that is well takes some milliseconds; for one that hangs nobody waits.
	usageWait = 250 * time.Millisecond
	// usageReads are tries to read while nothing is written. A writing takes
	// milliseconds of each 400, so the second fails seldom and the third never.
	usageReads = 3
)

// usage is what the account of a call has done in its world on the days from and
// to and between: what the store has, and what this instance has counted and not
// written yet. Nothing is written.
//
// It is exact as of an instant in the course of the call, but for what other
// instances have not written yet. Only when the store hangs in the midst of a
// writing, it can be that calls of this writing are told twice.
func (s *Service) usage(c *httpapi.Call, from, to string) ([]schema.UsageDay, error) {
	for try := 1; ; try++ {
		writings := s.ledger.still(c.Context(), usageWait)
		unwritten := s.unwritten(c, from, to)
		stored, err := s.storedUsage(c, from, to)
		if err != nil {
			return nil, err
		}
		if try == usageReads || s.ledger.writings() == writings {
			return mergeUsage(append(stored, unwritten...)), nil
		}
	}
}

func (s *Service) storedUsage(c *httpapi.Call, from, to string) ([]schema.UsageDay, error) {
	return sqlstore.All(s.DB.View(c.Context()), func(row sqlstore.Scanner) (d schema.UsageDay, err error) {
		err = row.Scan(&d.Date, &d.Operation, &d.Calls, &d.Failed, &d.Counted)
		return d, err
	}, `SELECT day, operation, calls, failed, counted FROM usage_day
		WHERE account_id = $1 AND mode = $2 AND day >= $3 AND day <= $4`,
		c.Account, c.World.String(), from, to)
}

// unwritten are the lines of usage that this instance has in memory only.
func (s *Service) unwritten(c *httpapi.Call, from, to string) []schema.UsageDay {
	var b batch
	for _, d := range s.ledger.pending(func(d *daily) bool {
		return d.account == c.Account && d.world == c.World && d.date >= from && d.date <= to
	}) {
		b.addDay(d)
	}
	out := make([]schema.UsageDay, len(b.lines))
	for i, l := range b.lines {
		out[i] = schema.UsageDay{Date: l.day.date, Operation: l.operation, Calls: l.calls, Failed: l.failed, Counted: l.counted}
	}
	return out
}

// mergeUsage adds up what is of one day and operation, in their order.
func mergeUsage(days []schema.UsageDay) []schema.UsageDay {
	slices.SortFunc(days, func(x, y schema.UsageDay) int {
		return cmp.Or(cmp.Compare(x.Date, y.Date), cmp.Compare(x.Operation, y.Operation))
	})
	out := make([]schema.UsageDay, 0, len(days))
	for _, d := range days {
		if n := len(out); n > 0 && out[n-1].Date == d.Date && out[n-1].Operation == d.Operation {
			sum := &out[n-1]
			sum.Calls, sum.Failed, sum.Counted = sum.Calls+d.Calls, sum.Failed+d.Failed, sum.Counted+d.Counted
			continue
		}
		out = append(out, d)
	}
	return out
}
