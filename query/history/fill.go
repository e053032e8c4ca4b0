package history

import (
	"context"
	"slices"

	"vayu/query/aggregate"
	"vayu/query/gapfill"
)

// filled returns `days` with gaps filled from stations nearby, and caches the filled days. If it cannot read the values
// of these stations within FillTimeout (DownTimeout while the circuit breaker is open), gaps stay and `whole` is false.
func (c *cache) filled(
	ctx context.Context, p *entry, days []row, neighbours func() []string,
) (out []row, whole bool) {
	gaps := false
	for i := range days {
		gaps = gaps || days[i].Missing() != 0
	}
	if !gaps {
		return days, true
	}
	out = slices.Clone(days)
	var wanted []*aggregate.Figures
	p.mu.Lock()
	for i := range out {
		if out[i].Missing() == 0 {
			continue
		}
		if f, ok := p.filledDays[out[i].day]; ok && f.At == out[i].At {
			out[i].Figures = f
			continue
		}
		wanted = append(wanted, &out[i].Figures)
	}
	marks := p.invalidations
	p.mu.Unlock()
	if len(wanted) == 0 {
		return out, true
	}
	ids := neighbours()
	timeout := aggregate.FillTimeout
	if !c.tables.Healthy() {
		timeout = min(c.reloadTimeout, aggregate.DownTimeout)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := gapfill.Fill(ctx, c.tables.Tables, ids, wanted); err != nil {
		c.counters.Failures.Inc()
		return out, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.invalidations == marks {
		for i := range out {
			if days[i].Missing() != 0 {
				p.filledDays[out[i].day] = out[i].Figures
			}
		}
	}
	return out, true
}
