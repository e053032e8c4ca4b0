package alert

import (
	"time"

	"vayu/schema"
	"vayu/schema/air"
)

// Step is the result of an evaluation that changes the state of an alert.
type Step struct {
	State State // after the change
	// Event is "" for a change without an event, such as the first known category.
	Event    schema.EventType
	Reason   air.AlertReason
	value    any
	previous any
}

// Step evaluates the figures of an hour. It returns false if nothing changes. A repeated evaluation with the new
// state changes nothing, so an interrupted evaluation can be repeated.
//
// Step ignores figures of an hour before that of the last change, because another instance may have newer figures. If
// corrected figures of that very hour no longer support the change, Step undoes it. In later hours, Recheck does so.
//
// During quiet hours nothing changes. While the minimum interval lasts, an alert does not trigger. If a condition is
// still met afterwards, a later evaluation finds it.
func (a *Alert) Step(f *Observation, now time.Time) (Step, bool) {
	v, known := a.rule.value(f, now)
	if !known || a.rule.quiet.has(now) || a.rule.correctable() && f.At < a.State.Hour {
		return Step{}, false
	}
	if a.rule.changes() {
		return a.stepLevel(f, v, now)
	}
	met := a.rule.met(v)
	switch {
	case !a.State.Triggered && met && !a.tooSoon(now):
		return a.trigger(f.At, a.shown(v), nil, now), true
	case a.State.Triggered && !met && f.At == a.State.Hour && a.rule.correctable():
		return a.resolve(f.At, air.AlertCorrected, a.shown(v), now), true
	case a.State.Triggered && a.rule.cleared(v):
		return a.resolve(f.At, air.AlertRecovered, a.shown(v), now), true
	}
	return Step{}, false
}

// stepLevel evaluates a condition "change".
func (a *Alert) stepLevel(f *Observation, aqi float64, now time.Time) (Step, bool) {
	s := a.State
	if s.Level == none {
		s.Level, s.Hour, s.Version = a.rule.level(aqi), f.At, s.Version+1
		return Step{State: s}, true
	}
	if s.Before != none && f.At == s.Hour && a.rule.level(aqi) == s.Before { // the figures of the change were corrected
		if s.Triggered {
			return a.undoLevel(f.At, now), true
		}
		s.Level, s.Before, s.Hour, s.Version = s.Before, none, f.At, s.Version+1
		return Step{State: s}, true
	}
	level := a.rule.next(s.Level, aqi)
	switch {
	case level == s.Level:
		return Step{}, false
	case !a.rule.announces(s.Level, level):
		s.Level, s.Before, s.Hour, s.Triggered, s.Version = level, s.Level, f.At, false, s.Version+1
		return Step{State: s}, true
	case a.tooSoon(now):
		return Step{}, false
	}
	step := a.trigger(f.At, a.rule.levelValue(level), a.rule.levelValue(s.Level), now)
	step.State.Level, step.State.Before = level, s.Level
	return step, true
}

// Recheck checks a triggered alert after corrections of past figures. `hours` are the hours of the place, in time
// order, from the crossing (the hour that triggered the alert) to the current one. If only a later hour meets the
// condition, that hour becomes the crossing. If none does, the alert is resolved as corrected. If necessary figures are
// missing, nothing changes. The crossing of a condition "change" is the hour of the new level.
func (a *Alert) Recheck(hours []Observation, now time.Time) (Step, bool) {
	if !a.Correctable() || a.rule.quiet.has(now) {
		return Step{}, false
	}
	if a.rule.changes() {
		return a.recheckLevel(hours, now)
	}
	known := false
	for i := range hours {
		v, ok := a.rule.value(&hours[i], now)
		known = known || ok
		switch {
		case !ok || hours[i].At < a.State.Hour || !a.rule.met(v):
		case hours[i].At == a.State.Hour:
			return Step{}, false
		default:
			s := a.State
			s.Hour, s.Version = hours[i].At, s.Version+1
			return Step{State: s}, true
		}
	}
	last := len(hours) - 1
	if !known || last < 0 || !a.rule.ofAQI() && hours[0].At != a.State.Hour {
		return Step{}, false // the hours cannot be compared
	}
	v, ok := a.rule.value(&hours[last], now)
	if !ok {
		return Step{}, false
	}
	return a.resolve(hours[last].At, air.AlertCorrected, a.shown(v), now), true
}

// recheckLevel repeats the evaluation of the hours since an announced change, from the level before the change. If the
// last hour has that old level, the change is undone. If it has a third level, nothing changes: only Step announces it.
func (a *Alert) recheckLevel(hours []Observation, now time.Time) (Step, bool) {
	s := a.State
	level, last := s.Before, -1
	for i := range hours {
		v, ok := a.rule.value(&hours[i], now)
		if !ok || hours[i].At < s.Hour {
			continue
		}
		last = i
		if level = a.rule.next(level, v); level != s.Level {
			continue
		}
		if hours[i].At == s.Hour {
			return Step{}, false
		}
		s.Hour, s.Version = hours[i].At, s.Version+1
		return Step{State: s}, true
	}
	if last < 0 || level != s.Before {
		return Step{}, false
	}
	return a.undoLevel(hours[last].At, now), true
}

// undoLevel returns the Step that takes back the last, announced change of level, and resolves the alert as corrected.
func (a *Alert) undoLevel(hour uint32, now time.Time) Step {
	s := &a.State
	step := a.resolve(hour, air.AlertCorrected, a.rule.levelValue(s.Before), now)
	step.previous = a.rule.levelValue(s.Level)
	step.State.Level, step.State.Before = s.Before, none
	return step
}

// OfHour reports whether the value of the condition belongs to an hour. Ages and forecasts belong to the present.
func (a *Alert) OfHour() bool { return a.rule.correctable() }

// Correctable reports whether a correction of earlier hours can resolve the alert.
func (a *Alert) Correctable() bool {
	return a.State.Triggered && a.rule.correctable() && (!a.rule.changes() || a.State.Before != none)
}

// tooSoon reports whether the last event air.alert.triggered is younger than the minimum interval.
func (a *Alert) tooSoon(now time.Time) bool {
	return a.rule.minimum > 0 && !a.State.TriggeredAt.IsZero() && now.Before(a.State.TriggeredAt.Add(a.rule.minimum))
}

func (a *Alert) trigger(hour uint32, value, previous any, now time.Time) Step {
	s := a.State
	s.Triggered, s.Hour, s.ChangedAt, s.TriggeredAt, s.Version = true, hour, now, now, s.Version+1
	return Step{State: s, Event: schema.EventAlertTriggered, Reason: air.AlertCrossed, value: value, previous: previous}
}

func (a *Alert) resolve(hour uint32, reason air.AlertReason, value any, now time.Time) Step {
	s := a.State
	s.Triggered, s.Hour, s.ChangedAt, s.Version = false, hour, now, s.Version+1
	return Step{State: s, Event: schema.EventAlertResolved, Reason: reason, value: value}
}

// shown converts a value of the alert's metric to the value that events contain.
func (a *Alert) shown(v float64) any {
	switch a.rule.metric {
	case metricCategory, metricBand:
		levels := rule{metric: a.rule.metric, edges: a.rule.metric.edges()}
		return levels.levelValue(levels.level(v))
	case metricAge:
		return int64(v)
	}
	return v
}
