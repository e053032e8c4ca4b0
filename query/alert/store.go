package alert

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/sqlstore"
	"vayu/schema"
	"vayu/schema/air"
)

// These are the limits of the alerts of an account.
const (
	mostLive    = 1000
	mostSandbox = 100
)

const selectAlert = `SELECT id, account_id, mode, definition, active, state, level, before, hour, changed_at, triggered_at, version,
	created_at, updated_at, deleted_at IS NOT NULL, revision FROM alert`

// scan reads a row of the query selectAlert as an alert.
func scan(row sqlstore.Scanner) (*Alert, error) {
	a, err := scanAny(row)
	if err == nil && a.fault != nil {
		err = a.fault
	}
	return a, err
}

// scanAny does the same as [scan]. If the definition is invalid, it returns no error but sets the field fault.
func scanAny(row sqlstore.Scanner) (*Alert, error) {
	a := &Alert{}
	var mode, definition, state string
	var active, hour, created, updated int64
	var changed, triggered sql.NullInt64
	err := row.Scan(&a.ID, &a.Account, &mode, &definition, &active, &state, &a.State.Level, &a.State.Before, &hour, &changed, &triggered,
		&a.State.Version, &created, &updated, &a.deleted, &a.revision)
	if err != nil {
		return nil, err
	}
	a.World, a.Active = schema.WorldOf(mode), active != 0
	a.State.Triggered, a.State.Hour = state == stateTriggered, uint32(hour/microseconds)
	a.State.ChangedAt, a.State.TriggeredAt = sqlstore.FromMicros(changed), sqlstore.FromMicros(triggered)
	a.createdAt, a.updatedAt = time.UnixMicro(created), time.UnixMicro(updated)
	if a.deleted {
		return a, nil
	}
	if err := a.parse(definition); err != nil {
		a.fault = fmt.Errorf("parsing alert %q: %w", a.ID, err)
	}
	return a, nil
}

// microseconds is the number of microseconds in a second. Times are stored in microseconds.
const microseconds = 1_000_000

// nextRevision increments the counter of the changes that accounts make to alerts. It locks the counter until the
// transaction ends, so changes commit in the order of their revisions.
func nextRevision(tx *sqlstore.Tx) (revision int64, err error) {
	if err = tx.QueryRow("UPDATE alert_revision SET n = n + 1 WHERE id = 1 RETURNING n").Scan(&revision); err != nil {
		return 0, fmt.Errorf("counting a change of alerts: %w", err)
	}
	return revision, nil
}

// one returns an alert of an owner. The error is a *schema.Problem with not_found if there is none.
func one(q sqlstore.Querier, of schema.Owner, id string) (*Alert, error) {
	missing := schema.NewProblem(schema.NotFound, "id", "There is no such alert.")
	if !schema.IsID(id) {
		return nil, missing
	}
	a, err := scan(q.QueryRow(selectAlert+" WHERE account_id = $1 AND mode = $2 AND deleted_at IS NULL AND id = $3", of.Account, of.World.String(), id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, missing
	}
	if err != nil {
		return nil, fmt.Errorf("reading an alert: %w", err)
	}
	return a, nil
}

// locked returns an alert of an owner as [one] does, and locks its row until the transaction ends, so that the
// evaluation cannot change the state meanwhile.
func locked(tx *sqlstore.Tx, of schema.Owner, id string) (*Alert, error) {
	if schema.IsID(id) {
		if _, err := tx.Exec("UPDATE alert SET version = version WHERE id = $1 AND account_id = $2", id, of.Account); err != nil {
			return nil, fmt.Errorf("locking an alert: %w", err)
		}
	}
	return one(tx, of, id)
}

// list returns at most `limit` alerts of an owner with ids after `after`, or from the first one for "".
func list(q sqlstore.Querier, of schema.Owner, after string, limit int) ([]*Alert, error) {
	return sqlstore.All(q, scan, selectAlert+" WHERE account_id = $1 AND mode = $2 AND deleted_at IS NULL AND id > $3 ORDER BY id LIMIT $4",
		of.Account, of.World.String(), after, limit)
}

// create stores a new alert. It returns a *schema.Problem if the owner has too many.
func create(tx *sqlstore.Tx, of schema.Owner, d Definition, r rule, active bool, now time.Time) (*Alert, error) {
	revision, err := nextRevision(tx) // serialises creations
	if err != nil {
		return nil, err
	}
	most := mostLive
	if of.World == schema.Sandbox {
		most = mostSandbox
	}
	var n int
	err = tx.QueryRow("SELECT COUNT(*) FROM alert WHERE account_id = $1 AND mode = $2 AND deleted_at IS NULL", of.Account, of.World.String()).Scan(&n)
	if err != nil {
		return nil, fmt.Errorf("counting alerts: %w", err)
	}
	if n >= most {
		return nil, schema.NewProblem(schema.Conflict, "", fmt.Sprintf("An account has at most %d alerts in this mode; delete one first.", most))
	}
	a := &Alert{
		ID: idPrefix + ulid.MustNewDefault(now).String(), Owner: of, Definition: d, Active: active, State: initial(), rule: r,
		createdAt: sqlstore.TruncateMicros(now), updatedAt: sqlstore.TruncateMicros(now), revision: revision,
	}
	definition, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("writing an alert: %w", err)
	}
	_, err = tx.Exec(`INSERT INTO alert (id, account_id, mode, definition, active, state, level, before, hour, version, created_at, updated_at, revision)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $7, 0, 0, $8, $8, $9)`,
		a.ID, of.Account, of.World.String(), string(definition), sqlstore.BoolToInt(active), stateOK, none, now.UnixMicro(), revision)
	if err != nil {
		return nil, fmt.Errorf("storing an alert: %w", err)
	}
	return a, nil
}

// save stores the definition of an alert, its revision, and whether it is active.
func (a *Alert) save(tx *sqlstore.Tx, now time.Time) error {
	definition, err := json.Marshal(a.Definition)
	if err != nil {
		return fmt.Errorf("writing an alert: %w", err)
	}
	a.updatedAt = sqlstore.TruncateMicros(now)
	_, err = tx.Exec("UPDATE alert SET definition = $2, active = $3, updated_at = $4, revision = $5 WHERE id = $1",
		a.ID, string(definition), sqlstore.BoolToInt(a.Active), now.UnixMicro(), a.revision)
	if err != nil {
		return fmt.Errorf("changing an alert: %w", err)
	}
	return nil
}

// saveStates updates the states of alerts. Each row of its values has the id of an alert and the fields of State.
var saveStates = sqlstore.NewBatchStatement(0, `UPDATE alert SET state = v.column2, level = v.column3, before = v.column4, hour = v.column5,
	changed_at = v.column6, triggered_at = v.column7, version = v.column8 FROM (VALUES `,
	"(?, ?, CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT))",
	") AS v WHERE alert.id = v.column1 AND alert.version = v.column8 - 1 AND alert.deleted_at IS NULL RETURNING id")

// SaveStates stores new states, and returns the ids of the alerts whose state it has stored. It stores a state only
// if its version is the stored version plus 1. Otherwise another instance has changed the state, or the account has
// paused, changed or deleted the alert.
func SaveStates(tx *sqlstore.Tx, ids []string, states []State) (saved map[string]bool, err error) {
	saved = make(map[string]bool, len(ids))
	err = saveStates.Each(len(ids), func(text string, from, to int) error {
		var args []any
		for i := from; i < to; i++ {
			s, state := &states[i], stateOK
			if s.Triggered {
				state = stateTriggered
			}
			args = append(args, ids[i], state, s.Level, s.Before, int64(s.Hour)*microseconds, sqlstore.Micros(s.ChangedAt), sqlstore.Micros(s.TriggeredAt), s.Version)
		}
		return sqlstore.Each(tx, func(row sqlstore.Scanner) error {
			id, err := sqlstore.Scalar[string](row)
			saved[id] = true
			return err
		}, text, args...)
	})
	if err != nil {
		return nil, fmt.Errorf("storing the states of alerts: %w", err)
	}
	return saved, nil
}

// Entry is a change of an alert's state, and the event that announces the change.
type Entry struct {
	Alert   *Alert
	Event   schema.EventType
	Version int64 // of the state after the change
	Data    *air.AlertData
}

var insertChanges = sqlstore.NewBatchStatement(0, "INSERT INTO alert_change (alert_id, number, at, event_id, data) VALUES ", "(?, ?, ?, ?, ?)", "")

// Record appends the events of `entries` to the outbox and the alerts' history. The caller stores the new states in tx.
func Record(tx *sqlstore.Tx, events Events, entries []Entry, now time.Time) error {
	return insertChanges.Each(len(entries), func(statement string, from, to int) error {
		var args []any
		for _, e := range entries[from:to] {
			id, err := events.Append(tx, e.Alert.Account, e.Alert.World, e.Event, *e.Data)
			if err != nil {
				return err
			}
			text, err := json.Marshal(e.Data)
			if err != nil {
				return fmt.Errorf("writing a change of an alert: %w", err)
			}
			args = append(args, e.Alert.ID, e.Version, now.UnixMicro(), id, string(text))
		}
		if _, err := tx.Exec(statement, args...); err != nil {
			return fmt.Errorf("storing changes of alerts: %w", err)
		}
		return nil
	})
}

// Events appends events to the outbox, in the transaction of the change that caused them.
type Events interface {
	Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (id string, err error)
}

// change is a row of the history of an alert.
type change struct {
	number, at int64
	event      string
	data       []byte
}

// history returns at most `limit` changes of an alert whose number is below `before`, the newest first.
func history(q sqlstore.Querier, id string, before int64, limit int) ([]change, error) {
	return sqlstore.All(q, func(row sqlstore.Scanner) (c change, err error) {
		var data string
		err = row.Scan(&c.number, &c.at, &c.event, &data)
		c.data = []byte(data)
		return c, err
	}, "SELECT number, at, event_id, data FROM alert_change WHERE alert_id = $1 AND number < $2 ORDER BY number DESC LIMIT $3", id, before, limit)
}

// remove deletes an alert. The row remains for an hour, so that the evaluation finds the deletion.
func (a *Alert) remove(tx *sqlstore.Tx, revision int64, now time.Time) error {
	_, err := tx.Exec("UPDATE alert SET definition = '{}', deleted_at = $2, revision = $3 WHERE id = $1", a.ID, now.UnixMicro(), revision)
	if err != nil {
		return fmt.Errorf("deleting an alert: %w", err)
	}
	return nil
}

// Personal returns what the erasure of an account changes: it clears the definitions of the account's alerts, marks the
// alerts as deleted, and deletes their history.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{
		{Table: "alert_change", Key: []string{"alert_id", "number"}, From: "alert_change t JOIN alert a ON a.id = t.alert_id WHERE a.account_id = $1"},
		{
			Table: "alert", Key: []string{"id"}, From: "alert t WHERE t.account_id = $1 AND (t.definition <> '{}' OR t.deleted_at IS NULL)",
			Set:    "definition = '{}', deleted_at = COALESCE(deleted_at, created_at), revision = (SELECT n FROM alert_revision WHERE id = 1)",
			Before: "UPDATE alert_revision SET n = n + 1 WHERE id = 1",
		},
	}
}
