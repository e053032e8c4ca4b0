// Package alert has the alerts of accounts about the air of a place: their conditions, their state, their table and
// the API. Package evaluation evaluates them.
package alert

import (
	"encoding/json"
	"time"

	"vayu/schema"
	"vayu/schema/air"
)

const idPrefix = "alt_"

// Definition is the part of an alert that its account sets. The store has it as JSON.
type Definition struct {
	Name            string               `json:"name"`
	Place           Place                `json:"place"`
	Condition       air.AlertCondition   `json:"condition"`
	Hysteresis      float64              `json:"hysteresis"`       // in the unit of the metric
	MinimumInterval int64                `json:"minimum_interval"` // seconds
	QuietHours      *air.AlertQuietHours `json:"quiet_hours"`
	Language        string               `json:"language"`
}

// Alert is a stored alert. Package evaluation keeps alerts in memory, and changes only their field State.
type Alert struct {
	ID string
	schema.Owner
	Definition

	Active bool
	State  State

	rule      rule
	createdAt time.Time
	updatedAt time.Time
	revision  int64
	deleted   bool
	fault     error // of the stored definition; nil for none
}

// Deleted reports whether the account has deleted the alert. The row remains for an hour.
func (a *Alert) Deleted() bool { return a.deleted }

// Fault returns the error of an alert whose stored definition is invalid; nil for none. Such an alert has no place and
// no condition.
func (a *Alert) Fault() error { return a.fault }

// CreatedAt returns the time at which the account created the alert.
func (a *Alert) CreatedAt() time.Time { return a.createdAt }

// State is the state of an alert, which follows from its evaluations so far.
type State struct {
	// Triggered is true from an event air.alert.triggered to the next air.alert.resolved. For a condition "change", it
	// means that the last change was announced by an event.
	Triggered bool
	// Level is the last known level (category or band) of a condition "change", and Before is the level before that.
	// A level is -1 if it is unknown.
	Level, Before int
	// Hour is the end of the hour whose figures made the last change, in Unix seconds; 0 for none. While the alert is
	// triggered, these figures are the ones that triggered it (the crossing).
	Hour        uint32
	ChangedAt   time.Time // zero for never
	TriggeredAt time.Time // time of the last event air.alert.triggered; zero for never
	Version     int64     // number of changes of the state
}

// initial is the state of a new alert.
func initial() State { return State{Level: none, Before: none} }

// none is the level of an alert that has not been evaluated.
const none = -1

// Wire returns the alert as the API shows it.
func (a *Alert) Wire() air.Alert {
	w := air.Alert{
		ID: a.ID, Name: a.Name, Place: a.Place.AlertPlace, Condition: a.Condition, Hysteresis: a.Hysteresis, MinimumInterval: a.MinimumInterval,
		QuietHours: a.QuietHours, Language: a.Language, Active: a.Active, Mode: a.World.String(), State: stateOK,
		ChangedAt: timeOrNull(a.State.ChangedAt), TriggeredAt: timeOrNull(a.State.TriggeredAt),
		CreatedAt: schema.FormatTime(a.createdAt), UpdatedAt: schema.FormatTime(a.updatedAt),
	}
	if a.State.Triggered && !a.rule.changes() {
		w.State = stateTriggered
	}
	return w
}

// These are the values of the column state.
const (
	stateOK        = "ok"
	stateTriggered = "triggered"
)

func timeOrNull(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	text := schema.FormatTime(at)
	return &text
}

// parse sets the definition of an alert from its stored JSON.
func (a *Alert) parse(text string) error {
	if err := json.Unmarshal([]byte(text), &a.Definition); err != nil {
		return err
	}
	var problems faults
	a.rule = newRule(&problems, &a.Definition)
	return problems.Problem()
}
