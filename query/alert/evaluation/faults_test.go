package evaluation_test

import (
	"errors"
	"net/http"
	"testing"

	"vayu/internal/sqlstore"
	"vayu/query/alert"
	"vayu/schema"
	"vayu/schema/air"
)

// If an account changes an alert during its evaluation, only that alert is read again.
func TestLostChangeReadsOneAlert(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		id := f.add(t, delhi)
		other := f.add(t, cityAlert("Pune"))
		f.hour(t, 0, map[string]int{"Delhi": 310, "Pune": 250})
		f.air.evaluating = func() {
			f.air.evaluating = nil
			f.client.Do(f.tenant.Keys[schema.Sandbox], http.MethodPatch, "/v1/alerts/"+id, `{"condition":{"metric":"aqi","over":400}}`).Want(t, "change", 200)
			f.exec(t, "UPDATE alert SET active = 0 WHERE id = $1", other) // found by a read of all alerts only
		}
		f.hour(t, 1, map[string]int{"Delhi": 290, "Pune": 250})
		f.hour(t, 2, map[string]int{"Delhi": 410, "Pune": 310})
		want(t, f, "Delhi triggered 310 crossed", "Delhi resolved 290 edited", "Delhi triggered 410 crossed", "Pune triggered 310 crossed")
	})
}

// An alert that cannot be read is left out.
func TestUnreadableAlertIsLeftOut(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		id := f.add(t, delhi)
		f.add(t, cityAlert("Pune"))
		f.exec(t, `UPDATE alert SET definition = '{"condition":{"metric":"smell","over":1}}' WHERE id = $1`, id)
		f.hour(t, 0, map[string]int{"Delhi": 310, "Pune": 310})
		want(t, f, "Pune triggered 310 crossed")
	})
}

// refusing refuses the events of some cities.
type refusing struct {
	alert.Events

	cities map[string]bool
}

func (r *refusing) Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (string, error) {
	if d, ok := data.(air.AlertData); ok && r.cities[d.Place.City] {
		return "", errors.New("refused")
	}
	return r.Events.Append(tx, account, world, event, data)
}

// An event that cannot be stored does not affect those of other alerts.
func TestFailedEventAffectsOneAlert(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.add(t, delhi)
		f.add(t, cityAlert("Pune"))
		events := &refusing{f.events, map[string]bool{"Delhi": true}}
		f.events = events
		f.restart()
		f.hour(t, 0, map[string]int{"Delhi": 310, "Pune": 310})
		want(t, f, "Pune triggered 310 crossed")
		events.cities = nil
		f.hour(t, 1, map[string]int{"Delhi": 310, "Pune": 310})
		want(t, f, "Pune triggered 310 crossed", "Delhi triggered 310 crossed")
	})
}

// exec changes the store as neither the API nor the evaluation does.
func (f *fixture) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	if err := f.db.Update(t.Context(), func(tx *sqlstore.Tx) error {
		_, err := tx.Exec(statement, args...)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
