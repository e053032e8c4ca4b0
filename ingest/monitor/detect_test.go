package monitor

import (
	"strings"
	"testing"
	"time"

	"vayu/schema/air"
)

var now = time.Date(2026, 11, 20, 12, 10, 0, 0, time.UTC)

// healthy returns the facts of a source without a problem, with an hourly reading of 100
// series that arrives within an hour.
func healthy() *facts {
	f := &facts{
		first: now.Add(-week), newest: now.Add(-40 * time.Minute), compare: 100, recent: fieldRuns, hours: make(map[time.Time]float64),
		fields: []share{{"id", "", 3, 100, 1, 103}, {"pm25", "", 3, 98, 1, 103}, {"note", "", 0, 30, 6, 101}},
		units:  []share{{"pm25", "µg/m³", 3, 98, 1, 103}},
	}
	for range lastRuns {
		f.runs = append(f.runs, runFacts{outcome: "done"})
	}
	for h := range 8 * 24 {
		f.hours[time.Date(2026, 11, 20, 11, 30, 0, 0, time.UTC).Add(-time.Duration(h)*time.Hour)] = 100
	}
	return f
}

// outcomes returns runs, the newest first.
func outcomes(all ...string) (runs []runFacts) {
	for _, o := range all {
		runs = append(runs, runFacts{outcome: o})
	}
	return runs
}

func future(all ...uint64) (runs []runFacts) {
	for _, n := range all {
		runs = append(runs, runFacts{"done", n})
	}
	return runs
}

// lowHours sets the last hours that have settled.
func (f *facts) lowHours(values ...float64) {
	for i, v := range values {
		f.hours[time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC).Add(-time.Duration(i)*time.Hour)] = v
	}
}

func TestDetection(t *testing.T) {
	t.Parallel()
	limits := Limits{MaxSilence: 6 * time.Hour}
	for name, c := range map[string]struct {
		change        func(*facts)
		problem       air.Problem
		begins, stays bool
		detail        string
	}{
		"healthy":                     {func(*facts) {}, "", false, false, ""},
		"two failed runs":             {func(f *facts) { f.runs = outcomes("fetch_failed", "refused", "done", "done") }, air.ProblemFailing, false, true, ""},
		"three failed runs":           {func(f *facts) { f.runs = outcomes("refused", "fetch_failed", "timed_out", "done") }, air.ProblemFailing, true, true, "last 3 runs failed: refused"},
		"one good run after failures": {func(f *facts) { f.runs = outcomes("done", "fetch_failed", "fetch_failed") }, air.ProblemFailing, false, true, ""},
		"old newest reading":          {func(f *facts) { f.newest = now.Add(-6*time.Hour - time.Second) }, air.ProblemSilent, true, true, "2026-11-20T06:09:59Z; the limit is 6h"},
		"no reading ever":             {func(f *facts) { f.newest = time.Time{} }, air.ProblemSilent, true, true, "no run of the last 7 days"},
		"no reading yet":              {func(f *facts) { f.newest, f.first = time.Time{}, now.Add(-time.Hour) }, air.ProblemSilent, false, false, ""},
		"field gone":                  {func(f *facts) { f.fields[1] = share{"pm25", "", 0, 98, 4, 103} }, air.ProblemDrift, true, true, "fields that are gone: pm25"},
		"field gone for days":         {func(f *facts) { f.fields[1] = share{"pm25", "", 0, 30, 74, 103} }, air.ProblemDrift, true, true, ""},
		"rare field gone":             {func(f *facts) { f.fields[2] = share{"note", "", 0, 10, 9, 101} }, "", false, false, ""},
		"new field":                   {func(f *facts) { f.fields = append(f.fields, share{"q", "", 3, 0, 1, 3}) }, air.ProblemDrift, true, true, "new fields: q"},
		"field that is new for hours": {func(f *facts) { f.fields = append(f.fields, share{"q", "", 3, 15, 1, 18}) }, air.ProblemDrift, false, true, ""},
		"field of one run":            {func(f *facts) { f.fields = append(f.fields, share{"q", "", 1, 0, 2, 2}) }, "", false, false, ""},
		"other unit":                  {func(f *facts) { f.units = append(f.units, share{"pm25", "mg/m³", 1, 0, 1, 1}) }, air.ProblemDrift, true, true, "other units: pm25 in mg/m³"},
		"unit of a new parameter":     {func(f *facts) { f.units = append(f.units, share{"no2", "ppb", 3, 0, 1, 3}) }, "", false, false, ""},
		"old field that is rare":      {func(f *facts) { f.fields = append(f.fields, share{"q", "", 3, 15, 1, 90}) }, "", false, false, ""},
		"few earlier runs":            {func(f *facts) { f.compare, f.fields[1] = 7, share{"pm25", "", 0, 7, 4, 10} }, "", false, false, ""},
		"names that are data": {func(f *facts) {
			for range mostFields {
				f.fields = append(f.fields, share{"station", "", 3, 0, 1, 3})
			}
		}, "", false, false, ""},
		"low coverage":                  {func(f *facts) { f.lowHours(59, 59) }, air.ProblemCoverage, true, true, "59 of the usual 100 readings in the hour that ended at 2026-11-20T08:30:00Z"},
		"one low hour":                  {func(f *facts) { f.lowHours(59, 100) }, air.ProblemCoverage, false, true, ""},
		"coverage between limits":       {func(f *facts) { f.lowHours(70, 70) }, air.ProblemCoverage, false, true, ""},
		"unsettled hours":               {func(f *facts) { f.hours[time.Date(2026, 11, 20, 11, 30, 0, 0, time.UTC)] = 1 }, "", false, false, ""},
		"low coverage of a silent feed": {func(f *facts) { f.lowHours(0, 0); f.newest = now.Add(-7 * time.Hour) }, air.ProblemSilent, true, true, ""},
		"times in the future":           {func(f *facts) { f.runs, f.clocks = future(1, 0, 4, 2, 0, 0), []string{"a-1", "a-2"} }, air.ProblemClock, true, true, "7 values of the last 6 runs have times in the future; stations: a-1, a-2"},
		"times in the future once":      {func(f *facts) { f.runs = future(0, 0, 4, 2, 0, 0) }, air.ProblemClock, false, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := healthy()
			c.change(f)
			for problem, got := range f.detect(limits, now) {
				want := finding{}
				if problem == c.problem {
					want = finding{begins: c.begins, stays: c.stays}
				}
				if got.begins != want.begins || got.stays != want.stays {
					t.Errorf("%s: begins %t and stays %t, want %t and %t (%s)", problem, got.begins, got.stays, want.begins, want.stays, got.detail)
				}
				if problem == c.problem && !strings.Contains(got.detail, c.detail) {
					t.Errorf("%s: detail %q, want %q", problem, got.detail, c.detail)
				}
			}
		})
	}
}

// A source without a rhythm, such as a folder, is neither silent nor incomplete.
func TestSourceWithoutRhythm(t *testing.T) {
	t.Parallel()
	f := healthy()
	f.newest = now.Add(-365 * 24 * time.Hour)
	f.lowHours(0, 0)
	for problem, got := range f.detect(Limits{}, now) {
		if got.begins || got.stays {
			t.Errorf("%s: %+v", problem, got)
		}
	}
}

// A finding that changes with each check changes no state.
func TestFlappingChangesNothing(t *testing.T) {
	t.Parallel()
	for _, active := range []bool{false, true} {
		var c counter
		for check := range 100 {
			on := check%2 == 0
			if c.observe(active, finding{begins: on, stays: on}) {
				t.Errorf("check %d changes the state %t", check, active)
			}
		}
	}
}

func TestStatesChangeAfterConfirmation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		active, is bool
		after      int
	}{{false, true, beginsAfter}, {true, false, endsAfter}} {
		var counted counter
		for check := 1; check <= c.after; check++ {
			if got, want := counted.observe(c.active, finding{begins: c.is, stays: c.is}), check == c.after; got != want {
				t.Errorf("check %d of a problem that is %t: changes %t, want %t", check, c.active, got, want)
			}
		}
	}
}
