package fault

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/testing/chaos"
	"vayu/internal/testing/chaos/load"
)

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
	quota := load.Quota()
	limited := func(good int) load.AirStats {
		return load.AirStats{Requests: good + 500, Failed: 500, Answered: good + 500, Refused: 500}
	}
	answered := load.AirStats{Requests: 5000, Answered: 5000}
	for name, c := range map[string]struct {
		check check
		held  bool
	}{
		"a roll without a failure":         {rolled("roll", load.AirStats{Requests: 100}), true},
		"a roll with one":                  {rolled("roll", load.AirStats{Requests: 100_000, Failed: 1}), false},
		"a roll without requests":          {rolled("roll", load.AirStats{}), false},
		"all is counted":                   {countedOf(6500, answered, limited(1000), 0), true},
		"one is missing, and no kill":      {countedOf(6499, answered, limited(1000), 0), false},
		"one is missing, and a kill":       {countedOf(6499, answered, limited(1000), 1), true},
		"a second is missing, and a kill":  {countedOf(6500-airRate-limitedRate, answered, limited(1000), 1), true},
		"more is missing than a second":    {countedOf(6499-airRate-limitedRate, answered, limited(1000), 1), false},
		"one is counted twice":             {countedOf(6501, answered, limited(1000), 2), false},
		"one to which no answer came":      {countedOf(6501, load.AirStats{Requests: 5001, Failed: 1, Answered: 5000}, limited(1000), 0), true},
		"the quota holds":                  {enforced(limited(quota), 0, 0), true},
		"a second more":                    {enforced(limited(quota+limitedRate), 0, 0), true},
		"more than a second":               {enforced(limited(quota+limitedRate+1), 0, 0), false},
		"a second for each of two kills":   {enforced(limited(quota+3*limitedRate), 2, 0), true},
		"more than that":                   {enforced(limited(quota+3*limitedRate+1), 2, 0), false},
		"the seconds of a cut":             {enforced(limited(quota+4*limitedRate), 0, 2500*time.Millisecond), true},
		"more than these":                  {enforced(limited(quota+4*limitedRate+1), 0, 2500*time.Millisecond), false},
		"refused too early":                {enforced(limited(quota-limitedRate-1), 0, 0), false},
		"no request was refused":           {enforced(load.AirStats{Requests: quota, Answered: quota}, 0, 0), false},
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
		if c.check.held != c.held {
			t.Errorf("%s: %+v, want %t", name, c.check, c.held)
		}
	}
}

func TestAloneAndQuiet(t *testing.T) {
	t.Parallel()
	do := func(context.Context, *chaos.Cluster) (string, error) { return "", nil }
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
		Inbox: &load.Inbox{}, Out: &out, air: &load.Air{}, events: &load.Events{}, began: at(0), ended: at(70),
		rows: []row{{Fault: Fault{Name: "undisturbed"}, from: at(0), to: at(45)}, {Fault: Fault{Name: "kill-engine"}, from: at(45), to: at(70)}},
	}
	if err := r.table(nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"undisturbed", "kill-engine", "all", "?"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
