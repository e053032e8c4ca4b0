package evaluation_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

const delhi = `{"place":{"city":"Delhi"},"condition":{"metric":"aqi","over":300}}`

func each(t *testing.T, do func(t *testing.T, f *fixture)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { do(t, newFixture(t, db)) })
}

// want compares the events of each city, in their order. Events of several cities in one evaluation have no order.
func want(t *testing.T, f *fixture, want ...string) {
	t.Helper()
	byCity := func(a, b string) int { return strings.Compare(strings.Fields(a)[0], strings.Fields(b)[0]) }
	got := f.made(t)
	slices.SortStableFunc(got, byCity)
	slices.SortStableFunc(want, byCity)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A crossing makes one event, however often its hour is evaluated and by whichever leader.
func TestOneEventForEachCrossing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		id := f.add(t, delhi)
		for hour, aqi := range []int{250, 310, 320, 290, 305} {
			f.hour(t, hour, map[string]int{"Delhi": aqi})
			f.refresh(t)
			f.restart()
			f.refresh(t)
		}
		want(t, f, "Delhi triggered 310 crossed", "Delhi resolved 290 recovered", "Delhi triggered 305 crossed")
		if got := f.state(t, id); got != "triggered" {
			t.Errorf("got the state %q, want triggered", got)
		}
		reply := f.client.Do(f.tenant.Keys[schema.Sandbox], http.MethodGet, "/v1/alerts/"+id+"/history?limit=2", "").Want(t, "history", 200)
		rows, _ := reply.At("data").([]any)
		if len(rows) != 2 {
			t.Errorf("got %d changes, want two of three: %s", len(rows), reply.Text)
		}
		if got := reply.At("has_more"); got != true {
			t.Errorf("has_more is %v, want true: %s", got, reply.Text)
		}
	})
}

// An instance that still believes to be the leader stores nothing.
func TestFrozenLeaderChangesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.add(t, delhi)
		f.hour(t, 0, map[string]int{"Delhi": 250})
		frozen := f.Evaluator
		f.restart()
		f.hour(t, 1, map[string]int{"Delhi": 310})
		if err := frozen.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		want(t, f, "Delhi triggered 310 crossed")
		f.hour(t, 2, map[string]int{"Delhi": 290})
		for range 2 { // the first refresh finds that the version has changed
			if err := frozen.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		want(t, f, "Delhi triggered 310 crossed", "Delhi resolved 290 recovered")
	})
}

func TestHoursWithoutLeaderAreCaughtUp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.add(t, delhi)
		f.hour(t, 0, map[string]int{"Delhi": 250})
		f.restart()
		f.air.publish(1, map[string]int{"Delhi": 310})
		f.air.publish(2, map[string]int{"Delhi": 290})
		f.air.fails = map[string]bool{"Delhi": true}
		f.air.publish(3, map[string]int{"Delhi": 280})
		f.now = start.Add(3 * time.Hour)
		if err := f.Refresh(t.Context()); err == nil {
			t.Error("hours that cannot be read are skipped")
		}
		f.air.fails = nil
		f.now = f.now.Add(time.Minute)
		f.refresh(t)
		f.refresh(t)
		want(t, f, "Delhi triggered 310 crossed", "Delhi resolved 290 recovered")
	})
}

// An alert begins with the figures that are current when it is created.
func TestNewAlertIsEvaluatedAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.hour(t, 0, map[string]int{"Delhi": 310, "Pune": 310})
		f.hour(t, 5, map[string]int{"Delhi": 320, "Pune": 100})
		f.add(t, delhi)
		f.add(t, `{"place":{"city":"Pune"},"condition":{"metric":"aqi","over":300}}`)
		f.refresh(t)
		want(t, f, "Delhi triggered 320 crossed")
	})
}

func TestCorrectionsResolve(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.add(t, `{"place":{"city":"Delhi"},"condition":{"metric":"aqi","over":300},"hysteresis":50}`)
		f.hour(t, 0, map[string]int{"Delhi": 310})
		f.hour(t, 0, map[string]int{"Delhi": 290})
		f.hour(t, 1, map[string]int{"Delhi": 310})
		f.hour(t, 2, map[string]int{"Delhi": 290})
		want(t, f, "Delhi triggered 310 crossed", "Delhi resolved 290 corrected", "Delhi triggered 310 crossed")
		f.air.past["Delhi"][uint32(start.Unix())+3600] = 299
		f.hour(t, 3, map[string]int{"Delhi": 280})
		want(t, f, "Delhi triggered 310 crossed", "Delhi resolved 290 corrected", "Delhi triggered 310 crossed", "Delhi resolved 280 corrected")
	})
}

// A correction of the earlier hour of a change takes the change back.
func TestCorrectionsTakeChangesBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.add(t, `{"place":{"city":"Delhi"},"condition":{"metric":"category","change":"worse"},"hysteresis":30}`)
		f.hour(t, 0, map[string]int{"Delhi": 250})
		f.hour(t, 1, map[string]int{"Delhi": 340})
		f.hour(t, 2, map[string]int{"Delhi": 290})
		want(t, f, "Delhi triggered Very Poor crossed")
		f.air.past["Delhi"][at(1)] = 280
		f.hour(t, 3, map[string]int{"Delhi": 285})
		want(t, f, "Delhi triggered Very Poor crossed", "Delhi resolved Poor corrected")
	})
}

func TestChangesByTheAccountResolve(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ method, body, reason string }{
		"pause":     {http.MethodPatch, `{"active":false}`, "paused"},
		"condition": {http.MethodPatch, `{"condition":{"metric":"aqi","over":400}}`, "edited"},
		"place":     {http.MethodPatch, `{"place":{"city":"Pune"}}`, "edited"},
		"deletion":  {http.MethodDelete, "", "deleted"},
		"name":      {http.MethodPatch, `{"name":"winter"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, f *fixture) {
				id := f.add(t, delhi)
				f.hour(t, 0, map[string]int{"Delhi": 310, "Pune": 100})
				f.client.Do(f.tenant.Keys[schema.Sandbox], row.method, "/v1/alerts/"+id, row.body).Want(t, name, 200)
				f.refresh(t)
				f.hour(t, 1, map[string]int{"Delhi": 320, "Pune": 100})
				wanted := []string{"Delhi triggered 310 crossed"}
				if row.reason != "" {
					wanted = append(wanted, "Delhi resolved 310 "+row.reason)
				}
				want(t, f, wanted...)
			})
		})
	}
}

// Air of an earlier hour than the evaluated one is ignored: an instance may lag behind the last leader.
func TestOlderAirIsIgnored(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.add(t, delhi)
		f.hour(t, 1, map[string]int{"Delhi": 310})
		f.restart()
		f.hour(t, 0, map[string]int{"Delhi": 250})
		want(t, f, "Delhi triggered 310 crossed")
	})
}

// After quiet hours, an event follows for what is still true.
func TestQuietHoursEndWithTheClock(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.add(t, `{"place":{"city":"Delhi"},"condition":{"metric":"aqi","over":300},"quiet_hours":{"from":"12:00","to":"13:00"}}`)
		f.hour(t, 0, map[string]int{"Delhi": 310})
		want(t, f)
		f.now = start.Add(time.Hour)
		f.refresh(t)
		want(t, f, "Delhi triggered 310 crossed")
	})
}

func TestManyAlertsOfAPlace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		var wanted []string
		for n := range 100 {
			f.add(t, fmt.Sprintf(`{"place":{"city":"Delhi"},"condition":{"metric":"aqi","over":%d}}`, 250+n))
			if 250+n < 310 {
				wanted = append(wanted, "Delhi triggered 310 crossed")
			}
		}
		f.hour(t, 0, map[string]int{"Delhi": 310})
		want(t, f, wanted...)
		reply := f.client.Do(f.tenant.Keys[schema.Sandbox], http.MethodPost, "/v1/alerts", delhi)
		reply.WantError(t, "the 101st alert", 409, schema.Conflict, "")
	})
}

func TestPurge(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		id := f.add(t, delhi)
		f.hour(t, 0, map[string]int{"Delhi": 310})
		f.client.Do(f.tenant.Keys[schema.Sandbox], http.MethodDelete, "/v1/alerts/"+id, "").Want(t, "deletion", 200)
		for _, hours := range []int{0, 2} {
			f.now = start.Add(time.Duration(hours)*time.Hour + 30*time.Minute)
			f.restart()
			f.refresh(t)
			rows, err := sqlstore.All(f.db.View(t.Context()), sqlstore.Scalar[string], "SELECT id FROM alert")
			if err != nil {
				t.Fatal(err)
			}
			if got, left := slices.Contains(rows, id), hours == 0; got != left {
				t.Errorf("after %d hours the row is there: got %t, want %t", hours, got, left)
			}
		}
	})
}
