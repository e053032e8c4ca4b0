package fault

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"vayu/internal/testing/chaos/load"
)

// Limits of the invariants.
const (
	minAvailability = 99.9             // percent, over the run
	minShare        = 40.0             // percent of the deliveries, of each dispatcher
	maxTakeOver     = 15 * time.Second // until other instances do the work of an unavailable one
)

// arrived waits until every event has arrived, or no new event arrives any more, and returns the
// lost ones.
func (r *Run) arrived(ctx context.Context) (lost map[string]bool, committed int, err error) {
	for until := time.Now().Add(maxArrive); ; {
		all, err := r.store.Events(ctx)
		if err != nil {
			return nil, 0, err
		}
		lost = map[string]bool{}
		for id := range all {
			if _, ok := r.Inbox.Arrived(id); !ok {
				lost[id] = true
			}
		}
		for _, id := range r.events.Between(r.began, time.Now()) {
			if _, stored := all[id]; !stored {
				lost[id] = true // the store has committed it
			}
		}
		if len(lost) == 0 || time.Now().After(until) {
			return lost, len(all), nil
		}
		if err := wait(ctx, time.Second); err != nil {
			return nil, 0, err
		}
	}
}

// after returns how long after moment the last event arrived, of those that were committed before
// moment.
func (r *Run) after(moment time.Time) (longest time.Duration) {
	for _, id := range r.events.Between(r.began, moment) {
		if at, ok := r.Inbox.Arrived(id); ok {
			longest = max(longest, at.Sub(moment))
		}
	}
	return longest
}

// check is the result of one invariant.
type check struct {
	what, is, must string
	held           bool
}

func inTime(what string, is, limit time.Duration) check {
	return check{what, fmt.Sprintf("%.1f s", is.Seconds()), fmt.Sprintf("at most %.0f s", limit.Seconds()), is <= limit}
}

// rolled checks that no request failed during a rolling restart.
func rolled(name string, stats load.AirStats) check {
	return check{"requests failed during " + name, fmt.Sprintf("%d of %d", stats.Failed, stats.Requests), "0", stats.Failed == 0 && stats.Requests > 0}
}

// judge waits until all events have arrived, prints the table and the checks, and returns whether
// all hold.
func (r *Run) judge(ctx context.Context) (held bool, err error) {
	lost, committed, err := r.arrived(ctx)
	if err != nil {
		return false, err
	}
	if err := r.table(lost); err != nil {
		return false, err
	}
	checks, err := r.checks(ctx, len(lost), committed)
	if err != nil {
		return false, err
	}
	table := tabwriter.NewWriter(r.Out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "\nWHAT MUST HOLD\tIS\tMUST BE\t")
	held = true
	for _, v := range checks {
		status := "ok"
		if !v.held {
			status, held = "FAIL", false
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", v.what, v.is, v.must, status)
	}
	return held, table.Flush()
}

// table prints the results so far. A nil lost means that lost events are unknown.
func (r *Run) table(lost map[string]bool) error {
	table := tabwriter.NewWriter(r.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "\nFAULT\tSECONDS\tREQUESTS\tFAILED\tAVAILABILITY\tP50 ms\tP99 ms\tGAP s\tCOMMITTED\tRECEIVED\tAGAIN\tLOST\tWELL AFTER s\tAIR AFTER s\t")
	for _, d := range append(slices.Clone(r.rows), row{Fault: Fault{Name: "all"}, from: r.began, to: r.ended}) {
		stats := r.air.Between(d.from, d.to)
		ids := r.events.Between(d.from, d.to)
		gone := 0
		for _, id := range ids {
			if lost[id] {
				gone++
			}
		}
		missing := fmt.Sprint(gone)
		if lost == nil {
			missing = "?"
		}
		first, again := r.Inbox.Between(d.from, d.to)
		_, _ = fmt.Fprintf(table, "%s\t%.0f\t%d\t%d\t%.3f %%\t%.1f\t%.1f\t%.2f\t%d\t%d\t%d\t%s\t%.1f\t%.1f\t\n", d.Name, d.to.Sub(d.from).Seconds(),
			stats.Requests, stats.Failed, stats.Availability(), milliseconds(stats.P50), milliseconds(stats.P99), stats.Gap.Seconds(), len(ids), first, again, missing, d.recovered.Seconds(), d.aired.Seconds())
	}
	return table.Flush()
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// checks returns the checks of the whole run.
func (r *Run) checks(ctx context.Context, lost, committed int) ([]check, error) {
	stats := r.air.Between(r.began, time.Now())
	all := []check{
		{"availability of current /v1/aqi", fmt.Sprintf("%.3f %% of %d", stats.Availability(), stats.Requests), fmt.Sprintf("at least %.1f %%", minAvailability), stats.Availability() >= minAvailability},
		{"events lost", fmt.Sprintf("%d of %d", lost, committed), "0", lost == 0 && committed > 0},
		{"deliveries that do not verify", fmt.Sprint(r.Inbox.InvalidSignatures()), "0", r.Inbox.InvalidSignatures() == 0},
	}
	for _, d := range r.rows {
		if d.rolls {
			all = append(all, rolled(d.Name, r.air.Between(d.from, d.to)))
		}
		if d.takeOver {
			all = append(all, inTime("another takes over after "+d.Name, r.after(d.from), maxTakeOver))
		}
		if d.maxHeal > 0 {
			all = append(all, inTime("all has arrived after "+d.Name, max(d.recovered, r.after(d.faultEnded)), d.maxHeal))
		}
		if strings.HasPrefix(d.note, "FAIL") {
			all = append(all, check{d.Name, d.note, "in time", false})
		}
	}
	for _, i := range r.Cluster.Instances {
		if i.Has("dispatch") { // an instance without known deliveries has no share
			share := r.shares[i.Name]
			all = append(all, check{"share of " + i.Name, fmt.Sprintf("%.1f %%", share), fmt.Sprintf("at least %.0f %%", minShare), share >= minShare})
		}
	}
	slices.SortStableFunc(all[3:], func(a, b check) int { return cmp.Compare(a.what, b.what) })
	for _, more := range []func(context.Context) ([]check, error){r.freshness, r.counts, r.money} {
		found, err := more(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// maxSettle limits the time until recharges are final: status enquiries follow after 5, 10, 20 and
// 40 s.
const maxSettle = 90 * time.Second

// money checks the states of the recharges, and that the ledger is balanced.
func (r *Run) money(ctx context.Context) ([]check, error) {
	var open map[string]string
	var orders int
	for until := time.Now().Add(maxSettle); ; {
		var err error
		if open, orders, err = r.recharges.Unsettled(ctx); err != nil {
			return nil, err
		}
		if len(open) == 0 || time.Now().After(until) {
			break
		}
		if err := wait(ctx, 2*time.Second); err != nil {
			return nil, err
		}
	}
	is := fmt.Sprintf("%d of %d", len(open), orders)
	if refs := slices.Sorted(maps.Keys(open)); len(refs) > 0 {
		is += fmt.Sprintf("; %s is %s", refs[0], open[refs[0]])
	}
	stdout, err := r.Cluster.Command(ctx, "ledger", "verify")
	books := "balanced"
	if err != nil {
		books = err.Error()
	} else if lines := strings.Split(stdout, "\n"); len(lines) > 0 {
		books = lines[len(lines)-1]
	}
	return []check{
		{"recharges that are not what they must be", is, "0", len(open) == 0 && orders > 0},
		{"the books", books, "balanced", err == nil},
	}, nil
}
