package chaos

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/google/go-cmp/cmp"
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
func rolled(name string, stats AirStats) check {
	return check{"requests failed during " + name, fmt.Sprintf("%d of %d", stats.Failed, stats.Requests), "0", stats.Failed == 0 && stats.Requests > 0}
}

// judge waits until all events have arrived, prints the table and the checks, and fails the test for
// each check that does not hold.
func (r *Run) judge(ctx context.Context, t *testing.T) error {
	lost, committed, err := r.arrived(ctx)
	if err != nil {
		return err
	}
	if err := r.table(t.Output(), lost); err != nil {
		return err
	}
	checks, err := r.checks(ctx, len(lost), committed)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(t.Output(), 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "\nWHAT MUST HOLD\tIS\tMUST BE\t")
	for _, v := range checks {
		status := "ok"
		if !v.held {
			status = "FAIL"
			t.Errorf("%s: got %s, want %s", v.what, v.is, v.must)
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", v.what, v.is, v.must, status)
	}
	return table.Flush()
}

// table prints the results so far. A nil lost means that lost events are unknown.
func (r *Run) table(out io.Writer, lost map[string]bool) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
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
	slices.SortStableFunc(all[3:], func(a, b check) int { return strings.Compare(a.what, b.what) })
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

// at is a moment of a fictitious run.
func at(s int) time.Time { return time.Unix(1_800_000_000+int64(s), 0) }

func TestSharesOfDispatchers(t *testing.T) {
	t.Parallel()
	got := shares(map[string]float64{"one": 10, "two": 0}, map[string]float64{"one": 40, "two": 10})
	if diff := cmp.Diff(map[string]float64{"one": 75, "two": 25}, got); diff != "" {
		t.Error(diff)
	}
	got = shares(map[string]float64{"one": 7, "two": 7}, map[string]float64{"one": 7, "two": 7})
	if diff := cmp.Diff(map[string]float64{"one": 0, "two": 0}, got); diff != "" {
		t.Errorf("without deliveries: %s", diff)
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	quota := Quota()
	limited := func(good int) AirStats {
		return AirStats{Requests: good + 500, Failed: 500, Answered: good + 500, Refused: 500}
	}
	answered := AirStats{Requests: 5000, Answered: 5000}
	for name, c := range map[string]struct {
		check check
		held  bool
	}{
		"a roll without a failure":         {rolled("roll", AirStats{Requests: 100}), true},
		"a roll with one":                  {rolled("roll", AirStats{Requests: 100_000, Failed: 1}), false},
		"a roll without requests":          {rolled("roll", AirStats{}), false},
		"all is counted":                   {countedOf(6500, answered, limited(1000), 0), true},
		"one is missing, and no kill":      {countedOf(6499, answered, limited(1000), 0), false},
		"one is missing, and a kill":       {countedOf(6499, answered, limited(1000), 1), true},
		"a second is missing, and a kill":  {countedOf(6500-airRate-limitedRate, answered, limited(1000), 1), true},
		"more is missing than a second":    {countedOf(6499-airRate-limitedRate, answered, limited(1000), 1), false},
		"one is counted twice":             {countedOf(6501, answered, limited(1000), 2), false},
		"one to which no answer came":      {countedOf(6501, AirStats{Requests: 5001, Failed: 1, Answered: 5000}, limited(1000), 0), true},
		"the quota holds":                  {enforced(limited(quota), 0, 0), true},
		"a second more":                    {enforced(limited(quota+limitedRate), 0, 0), true},
		"more than a second":               {enforced(limited(quota+limitedRate+1), 0, 0), false},
		"a second for each of two kills":   {enforced(limited(quota+3*limitedRate), 2, 0), true},
		"more than that":                   {enforced(limited(quota+3*limitedRate+1), 2, 0), false},
		"the seconds of a cut":             {enforced(limited(quota+4*limitedRate), 0, 2500*time.Millisecond), true},
		"more than these":                  {enforced(limited(quota+4*limitedRate+1), 0, 2500*time.Millisecond), false},
		"refused too early":                {enforced(limited(quota-limitedRate-1), 0, 0), false},
		"no request was refused":           {enforced(AirStats{Requests: quota, Answered: quota}, 0, 0), false},
		"air goes on":                      {aired([]row{{}, {aired: maxAir}}), true},
		"air goes on late":                 {aired([]row{{aired: maxAir + time.Second}, {aired: 1}}), false},
		"air never goes on":                {aired([]row{{aired: time.Second}, {stale: true}}), false},
		"known in time":                    {known("", []time.Duration{time.Second, maxKnown}, maxKnown), true},
		"known late":                       {known("", []time.Duration{time.Second, maxKnown + 1}, maxKnown), false},
		"unknown delays":                   {known("", nil, maxKnown), false},
		"one late of twenty":               {known("", append(make([]time.Duration, 19), time.Hour), maxKnown), true},
		"two late of twenty-one":           {known("", append(make([]time.Duration, 19), time.Hour, time.Hour), maxKnown), false},
		"something that came after a mend": {inTime("it", 15*time.Second, maxTakeOver), true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.check.held != c.held {
				t.Errorf("%+v, want %t", c.check, c.held)
			}
		})
	}
}

func TestAloneAndQuiet(t *testing.T) {
	t.Parallel()
	do := func(context.Context, *Cluster) (string, error) { return "", nil }
	r := &Run{rows: []row{
		{Fault: Fault{Name: "undisturbed"}, from: at(0), faultEnded: at(45), to: at(45)},
		{Fault: Fault{Name: "kill", Do: do}, from: at(45), faultEnded: at(50), recovered: 5 * time.Second, to: at(60)},
		{Fault: Fault{Name: "cut", Do: do, alone: true}, from: at(60), faultEnded: at(90), recovered: 10 * time.Second, to: at(130)},
	}}
	for s, want := range map[int]time.Duration{10: 0, 52: 0, 75: 15 * time.Second, 99: 39 * time.Second, 101: 0} {
		if got := r.aloneBefore(at(s)); got != want {
			t.Errorf("second %d: alone for %v, want %v", s, got, want)
		}
	}
	for s, want := range map[int]bool{10: true, 46: false, 54: false, 56: true, 61: false, 101: true} {
		if got := r.quiet(at(s)); got != want {
			t.Errorf("second %d: quiet %t, want %t", s, got, want)
		}
	}
	if got := r.aloneBefore(time.Time{}); got != 0 {
		t.Errorf("without a refusal: alone for %v", got)
	}
}

func TestInterruptedRunPrintsPartialTable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := &Run{
		Inbox: &Inbox{}, air: &Air{}, events: &Events{}, began: at(0), ended: at(70),
		rows: []row{{Fault: Fault{Name: "undisturbed"}, from: at(0), to: at(45)}, {Fault: Fault{Name: "kill-engine"}, from: at(45), to: at(70)}},
	}
	if err := r.table(&out, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"undisturbed", "kill-engine", "all", "?"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
