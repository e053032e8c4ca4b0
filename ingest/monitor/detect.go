package monitor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vayu/schema/air"
)

// Limits states which behaviour of a source is normal.
type Limits struct {
	// MaxSilence is the largest normal age of the newest reading. If it is zero or negative, the source sends at
	// irregular times. The monitor then checks neither the age nor the number of its readings.
	MaxSilence time.Duration
}

// Thresholds of problems. A problem begins and ends at different values, so that a source near a limit does not change
// its state with each run.
const (
	// The monitor compares the fields and units of the last runs only if there are at least leastCompared earlier runs.
	leastCompared = 8
	// A field is gone if none of the last fieldRuns runs has it, although at least leastCompared earlier runs had it.
	// Its share of the runs up to its last occurrence must be at least goneFrom. The problem ends if the field returns,
	// the configuration changes, or a week has passed.
	goneFrom = 0.9
	// A field or unit is new if it first occurred in the newest runs: the share newUntil of a week's runs, see isNew.
	newUntil = 0.2
	// If a source has more fields than mostFields, the monitor does not compare them. Their names are then probably
	// data, such as station ids.
	mostFields = 300
	// A problem of coverage begins when each of the last two complete hours has less than lowFrom of its usual
	// readings. It ends when each of them has at least lowUntil.
	lowFrom, lowUntil = 0.6, 0.8
	// The monitor checks the coverage of an hour only if the usual number of readings in that hour is at least
	// leastUsual. With a smaller number, one or two missing readings would already be reported as a problem.
	leastUsual = 5
	// The coverage of an hour is checked only if at least leastDays of the last 7 days have readings in that hour.
	leastDays = 3
	// failedRuns consecutive failed runs begin a problem. doneRuns consecutive successful runs end it.
	failedRuns, doneRuns = 3, 2
	// A clock problem begins when at least futureRuns of the last lastRuns runs have times in the future. It ends when
	// none of the last lastRuns runs has such times.
	futureRuns = 3
	// shownNames is the largest number of fields or stations that the text of a problem names.
	shownNames = 5
)

// finding is the result of the check for one problem of a source.
type finding struct {
	begins bool // the problem begins, unless it is present already
	stays  bool // the problem continues, if it is present
	detail string
}

// detect returns the finding for each kind of problem of a source.
func (f *facts) detect(l Limits, now time.Time) map[air.Problem]finding {
	all := map[air.Problem]finding{
		air.ProblemFailing: f.failing(), air.ProblemSilent: f.silent(l, now), air.ProblemDrift: f.drift(), air.ProblemClock: f.clock(),
	}
	coverage, _ := f.coverage(l, now)
	if all[air.ProblemFailing].begins || all[air.ProblemSilent].begins {
		coverage = finding{} // the low coverage has the same cause
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

// drift compares the fields and units of the last fieldRuns runs with those of earlier runs. It finds nothing after a
// recent change of the configuration, with fewer than leastCompared earlier runs, or with more than mostFields fields.
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

// isNew reports whether the field or unit first occurred in the newest runs. These are the share newUntil of all runs,
// but at least fieldRuns runs.
func (s *share) isNew(total int) bool {
	return float64(s.earliest) <= max(fieldRuns, newUntil*float64(total))
}

// changedUnits returns the new units (see isNew) of parameters for which at least leastCompared earlier runs state a
// unit. `stays` has all of them. `begins` has those that occur only in the last fieldRuns runs.
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

// coverage compares the last two complete hours with the same hours of the last 7 days. `ratio` is the number of
// readings in the last of these hours, divided by the usual number. It is negative if unknown.
func (f *facts) coverage(l Limits, now time.Time) (out finding, ratio float64) {
	if l.MaxSilence <= 0 {
		return finding{}, -1
	}
	// Readings may arrive late. An hour therefore counts as complete when half of MaxSilence has passed since its end.
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

// hourBefore returns the last time at or before `at` at which an Indian hour ends. Both are Unix seconds. Indian hours
// end at minute 30 of UTC.
func hourBefore(at int64) int64 {
	const hour, half = 3600, 1800
	return (at-half)/hour*hour + half
}

// ratio returns the number `is` of readings in the hour that ends at `end`, the median `usual` of that hour on the last
// 7 days, and their quotient. The quotient is negative if leastDays or leastUsual forbids the check.
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
	detail := fmt.Sprintf("%d values of the last %d runs have times in the future", values, len(f.runs))
	if len(f.clocks) > 0 {
		detail += "; stations: " + names(f.clocks)
	}
	return finding{begins: runs >= futureRuns, stays: runs > 0, detail: detail}
}

// names returns a text with the first shownNames names and the number of further names.
func names(all []string) string {
	shown := slices.Clone(all[:min(len(all), shownNames)])
	text := strings.Join(shown, ", ")
	if more := len(all) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
