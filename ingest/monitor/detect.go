package monitor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vayu/schema/air"
)

// Limits has what is normal for a source.
type Limits struct {
	// MaxSilence is the largest normal age of the newest reading. Zero or negative: the source has
	// no rhythm, and only its runs and fields are watched.
	MaxSilence time.Duration
}

// Thresholds. A problem begins at one value and ends at another, so that a source at the limit
// does not change its state with each run.
const (
	// leastCompared is how many earlier runs a comparison of fields needs.
	leastCompared = 8
	// A field is gone if at least goneFrom of the runs had it until it disappeared. The problem
	// ends when the field returns, when the configuration changes, or after a week.
	goneFrom = 0.9
	// A field or unit that no earlier run had is new, until it occurs in newUntil of the runs of
	// a week.
	newUntil = 0.2
	// mostFields is the number of fields above which names are probably data, such as station ids.
	mostFields = 300
	// A coverage below lowFrom of the usual one in two hours is low, until it is lowUntil again.
	lowFrom, lowUntil = 0.6, 0.8
	// leastUsual is the number of readings in an hour that a comparison needs.
	leastUsual = 5
	// leastDays is on how many of the last 7 days the same hour must have readings.
	leastDays = 3
	// failedRuns failed runs in a row are a problem, until doneRuns succeed.
	failedRuns, doneRuns = 3, 2
	// futureRuns of the last runs with times of the future are a problem, until none has.
	futureRuns = 3
	// shownNames is how many fields or stations a detail names.
	shownNames = 5
)

// finding is whether a source has a problem.
type finding struct {
	begins bool // it is one, if it was none
	stays  bool // it still is one, if it was one
	detail string
}

// detect returns the findings for a source.
func (f *facts) detect(l Limits, now time.Time) map[air.Problem]finding {
	all := map[air.Problem]finding{
		air.ProblemFailing: f.failing(), air.ProblemSilent: f.silent(l, now), air.ProblemDrift: f.drift(), air.ProblemClock: f.clock(),
	}
	coverage, _ := f.coverage(l, now)
	if all[air.ProblemFailing].begins || all[air.ProblemSilent].begins {
		coverage = finding{} // it has the same cause
	}
	all[air.ProblemCoverage] = coverage
	return all
}

// doneOutcome is the outcome of a run without an error.
const doneOutcome = "done"

func (f *facts) failing() finding {
	failed := 0
	for _, r := range f.runs {
		if r.outcome == doneOutcome {
			break
		}
		failed++
	}
	done := len(f.runs) > 0
	for _, r := range f.runs[:min(len(f.runs), doneRuns)] {
		done = done && r.outcome == doneOutcome
	}
	out := finding{begins: failed >= failedRuns, stays: !done}
	if failed > 0 {
		out.detail = fmt.Sprintf("the last %d runs failed: %s", failed, f.runs[0].outcome)
	}
	return out
}

func (f *facts) silent(l Limits, now time.Time) finding {
	if l.MaxSilence <= 0 || len(f.runs) == 0 {
		return finding{}
	}
	since, what := f.newest, "the newest reading is of "+f.newest.Format(time.RFC3339)
	if since.IsZero() {
		since, what = f.first, "no run of the last 7 days has stored a reading"
	}
	is := now.Sub(since) > l.MaxSilence
	return finding{is, is, fmt.Sprintf("%s; the limit is %s", what, l.MaxSilence)}
}

// drift compares the fields and units of the last runs with those of the earlier ones.
func (f *facts) drift() finding {
	if f.compare < leastCompared || f.recent < fieldRuns || len(f.fields) > mostFields {
		return finding{}
	}
	var out finding
	var details []string
	note := func(kind string, begins, stays []string) {
		out.begins, out.stays = out.begins || len(begins) > 0, out.stays || len(stays) > 0
		if len(stays) > 0 {
			details = append(details, kind+": "+names(stays))
		}
	}
	total := f.compare + f.recent
	var gone, added, stillNew []string
	for _, s := range f.fields {
		switch {
		case s.recent == 0 && s.before >= leastCompared && float64(s.before) >= goneFrom*float64(total-s.latest+1):
			gone = append(gone, s.name)
		case s.recent == f.recent && s.isNew(total):
			stillNew = append(stillNew, s.name)
			if s.before == 0 {
				added = append(added, s.name)
			}
		}
	}
	note("fields that are gone", gone, gone)
	note("new fields", added, stillNew)
	units, stillUnits := f.changedUnits(total)
	note("other units", units, stillUnits)
	out.detail = strings.Join(details, "; ")
	return out
}

// isNew reports whether no earlier run had the field or unit than the last fifth of them.
func (s *share) isNew(total int) bool {
	return float64(s.earliest) <= max(fieldRuns, newUntil*float64(total))
}

// changedUnits returns the parameters with a unit that the earlier runs did not state.
func (f *facts) changedUnits(total int) (begins, stays []string) {
	earlier := make(map[string]int)
	for _, s := range f.units {
		earlier[s.name] += s.before
	}
	for _, s := range f.units {
		if s.recent == 0 || earlier[s.name] < leastCompared || !s.isNew(total) {
			continue
		}
		text := s.name + " in " + s.unit
		stays = append(stays, text)
		if s.before == 0 {
			begins = append(begins, text)
		}
	}
	return begins, stays
}

// coverage compares the last hours with the same hours of the last 7 days. ratio is the share of
// the usual number of readings in the last hour; negative if it is unknown.
func (f *facts) coverage(l Limits, now time.Time) (out finding, ratio float64) {
	if l.MaxSilence <= 0 {
		return finding{}, -1
	}
	// A late source fills an hour within half of its largest normal age.
	settled := now.Add(-l.MaxSilence / 2)
	last := time.Unix(hourBefore(settled.Unix()), 0).UTC()
	ratio, is, usual := f.ratio(last)
	before, _, _ := f.ratio(last.Add(-time.Hour))
	if ratio < 0 || before < 0 {
		return finding{}, ratio
	}
	out = finding{begins: ratio < lowFrom && before < lowFrom, stays: ratio < lowUntil || before < lowUntil}
	out.detail = fmt.Sprintf("%.0f of the usual %.0f readings in the hour that ended at %s", is, usual, last.Format(time.RFC3339))
	return out, ratio
}

// hourBefore returns the end of the last Indian hour that had ended, both in Unix seconds.
func hourBefore(at int64) int64 {
	const hour, half = 3600, 1800
	return (at-half)/hour*hour + half
}

// ratio returns the share of the usual readings that an hour has; negative if it is unknown.
func (f *facts) ratio(end time.Time) (ratio, is, usual float64) {
	var same []float64
	for day := 1; day <= 7; day++ {
		if n, known := f.hours[end.Add(-time.Duration(day)*24*time.Hour)]; known {
			same = append(same, n)
		}
	}
	usual, ok := median(same)
	if !ok || len(same) < leastDays || usual < leastUsual {
		return -1, 0, 0
	}
	is = f.hours[end]
	return is / usual, is, usual
}

func (f *facts) clock() finding {
	runs := 0
	var values uint64
	for _, r := range f.runs {
		if r.future > 0 {
			runs++
		}
		values += r.future
	}
	detail := fmt.Sprintf("%d values of the last %d runs have times of the future", values, len(f.runs))
	if len(f.clocks) > 0 {
		detail += "; stations: " + names(f.clocks)
	}
	return finding{begins: runs >= futureRuns, stays: runs > 0, detail: detail}
}

// names joins the first names of a list.
func names(all []string) string {
	shown := slices.Clone(all[:min(len(all), shownNames)])
	text := strings.Join(shown, ", ")
	if more := len(all) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
