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
	// usageWait limits the wait of a usage query for a flush, which usually takes milliseconds.
	usageWait = 250 * time.Millisecond
	// usageReads is the largest number of attempts to read while no flush begins. A flush begins every 400 ms
	// and a read takes milliseconds, so a third attempt is rare.
	usageReads = 3
)

// usage returns the usage of the caller's account in its world (live or sandbox). The days include from and to.
// It adds the stored counts and those that this instance has not written yet.
//
// The result is exact as of an instant during the call, except for unwritten counts of other instances. If a
// flush does not end in time, its calls may be counted twice.
func (s *Service) usage(c *httpapi.Call, from, to string) ([]schema.UsageDay, error) {
	for try := 1; ; try++ {
		writings := s.counters.waitFlushed(c.Context(), usageWait)
		unwritten := s.unwritten(c, from, to)
		stored, err := s.storedUsage(c, from, to)
		if err != nil {
			return nil, err
		}
		if try == usageReads || s.counters.flushesBegun() == writings {
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

// unwritten returns the usage that is in this instance's memory and not in the store.
func (s *Service) unwritten(c *httpapi.Call, from, to string) []schema.UsageDay {
	var b batch
	for _, d := range s.counters.pending(func(d *daily) bool {
		return d.account == c.Account && d.world == c.World && d.date >= from && d.date <= to
	}) {
		b.addDay(d)
	}
	out := make([]schema.UsageDay, len(b.rows))
	for i, l := range b.rows {
		out[i] = schema.UsageDay{Date: l.day.date, Operation: l.operation, Calls: l.calls, Failed: l.failed, Counted: l.counted}
	}
	return out
}

// mergeUsage adds up rows of the same day and operation, and sorts them.
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
