//go:build integration

package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
)

// alertStart is the beginning of the first hour of the readings of these tests.
var alertStart = time.Date(2026, 11, 1, 0, 0, 0, 0, schema.India)

// importHours imports an hour of a station in Pune for each PM2.5, counted from alertStart, and returns the end of the
// last one.
func importHours(t *testing.T, data string, from int, pm25 []int, flags ...string) (end time.Time) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hours.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(f)
	_, _ = fmt.Fprintln(out, "city;site_name;site;state;query_name;to_date;to_time;from_date;from_time;PM2.5;PM10;NO2;SO2;CO;Ozone")
	for i, amount := range pm25 {
		begin := alertStart.Add(time.Duration(from+i) * time.Hour)
		end = begin.Add(time.Hour)
		_, _ = fmt.Fprintf(out, "Pune;Made 0, Pune - TEST;site_0;Maharashtra;made;%s;%s;%s;%s;%d;%d;20;10;0.5;%d\n",
			end.Format("02-Jan-2006"), end.Format("15:04"), begin.Format("02-Jan-2006"), begin.Format("15:04"), amount, amount+10+i%3, 20+i%5)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := vayu(t, data, append([]string{"import", path}, flags...)...); err != nil {
		t.Fatalf("importing: %v\n%s", err, out)
	}
	return end
}

// constant returns a number of equal concentrations.
func constant(n, amount int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = amount + i%2 // equal readings of a day are a fault of the instrument
	}
	return all
}

// shows reports whether a record is that of an hour or of a later one.
func shows(end time.Time) func(reply) bool {
	return func(r reply) bool {
		updated, err := time.Parse(time.RFC3339, r.text("updated"))
		return err == nil && !updated.Before(end)
	}
}

// Messages in Hindi have the Hindi names of cities, also in the events of alerts at pin codes.
func TestIntegrationAlertMessageHasHindiName(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	s.eventually(s.sandbox, aqi("Delhi"), ok)
	for place, want := range map[string]string{
		`{"city":"Delhi"}`:             "दिल्ली: ",
		`{"city":"Aurangabad, Bihar"}`: "औरंगाबाद, बिहार: ",
		`{"pincode":"411004"}`:         "पुणे: ",
	} {
		made := s.send(http.MethodPost, s.sandbox, "/v1/alerts", `{"place":`+place+`,"condition":{"metric":"aqi","over":300},"language":"hi"}`)
		if made.status != http.StatusCreated {
			t.Fatalf("creating an alert at %s: %d %s", place, made.status, made.raw)
		}
		tested := s.send(http.MethodPost, s.sandbox, "/v1/alerts/"+made.text("id")+"/test", "")
		event := s.get(s.sandbox, "/v1/events/"+tested.text("event_id"))
		if !strings.Contains(event.raw, `"message":"`+want) {
			t.Errorf("the event of an alert at %s has no message that begins with %q: %s", place, want, event.raw)
		}
	}
}

// A reading that crosses the limit of an alert reaches a webhook, signed. The test logs the time from the publication of
// the hour, about which it knows within a poll.
func TestIntegrationAlertReachesWebhook(t *testing.T) {
	t.Parallel()
	r := receive(t, nil)
	s := serve(t, t.TempDir(), r.flags()...)
	s.eventually(s.sandbox, aqi("Delhi"), ok) // an import needs the tables of both worlds
	published := importHours(t, s.data, 0, constant(24, 40))
	s.eventually(s.live, aqi("Pune"), shows(published))
	s.subscribe(s.live, r, "/", `"air.alert.triggered","air.alert.resolved"`)
	made := s.send(http.MethodPost, s.live, "/v1/alerts", `{"place":{"city":"Pune"},"condition":{"metric":"aqi","over":80}}`)
	if made.status != http.StatusCreated {
		t.Fatalf("creating an alert: %d %s", made.status, made.raw)
	}
	hour := 24
	for i := range 5 {
		amounts := []int{400} // the mean of 24 hours crosses 48 µg/m³
		if i%2 == 1 {
			amounts = constant(24, 40)
		}
		end := importHours(t, s.data, hour, amounts)
		hour += len(amounts)
		s.eventually(s.live, aqi("Pune"), shows(end))
		published := time.Now()
		d := r.wait("the event of a crossing", func(all []received) bool { return len(all) > i })[i]
		if d.refused != nil {
			t.Errorf("event %d: got the signature %v, want a valid one", i, d.refused)
		}
		want := []schema.EventType{schema.EventAlertTriggered, schema.EventAlertResolved}[i%2]
		if d.Type != want {
			t.Errorf("event %d: got %s, want %s", i, d.Type, want)
		}
		t.Logf("%s arrived %v after GET /v1/aqi had the hour", d.Type, d.at.Sub(published).Round(time.Millisecond))
	}
}

// alertKills is the number of kills of the leader, unless VAYU_TEST_KILLS is set; maxAlertKills is the largest.
const alertKills, maxAlertKills = 3, 20

// everyRole has all roles of an instance.
const everyRole = "api,ingest,pipeline,dispatch"

// alertInstances are instances on one PostgreSQL and one ClickHouse.
type alertInstances struct {
	*roleInstances

	flags   []string
	running []*serverProcess
}

// killLeader kills the instance that evaluates alerts, and starts another one.
func (c *alertInstances) killLeader() {
	c.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		for i, s := range c.running {
			if leads("alerts")(s.get("", "/metrics")) {
				s.stop(syscall.SIGKILL)
				c.running[i] = c.join(everyRole, c.flags...)
				return
			}
		}
	}
	c.Fatal("no instance evaluates alerts")
}

// Two instances make one event for each crossing, although the leader is killed while it evaluates an hour.
func TestIntegrationAlertsOfInstancesAfterKills(t *testing.T) {
	t.Parallel()
	r := receive(t, nil)
	c := &alertInstances{roleInstances: newRoleInstances(t), flags: r.flags()}
	key := newKey(t, c.first, "live", append(c.stores[:2:2], "--plan", "unlimited", "--scopes", "all")...)
	for range 2 {
		c.running = append(c.running, c.join(everyRole, c.flags...))
	}
	c.running[0].eventually("", "/readyz", ok) // the tables are migrated
	store := c.stores[2:]
	published := importHours(t, c.first, 0, constant(24, 40), store...)
	c.running[0].eventually(key, aqi("Pune"), shows(published))
	c.running[0].subscribe(key, r, "/", `"air.alert.triggered","air.alert.resolved"`)
	made := c.running[0].send(http.MethodPost, key, "/v1/alerts", `{"place":{"city":"Pune"},"condition":{"metric":"aqi","over":80}}`)
	if made.status != http.StatusCreated {
		t.Fatalf("creating an alert: %d %s", made.status, made.raw)
	}
	history := "/v1/alerts/" + made.text("id") + "/history?limit=100"
	var want []string
	hour, kills := 24, min(killCount(t, alertKills), maxAlertKills)
	for i := range kills {
		amounts, event := []int{400}, schema.EventAlertTriggered
		if i%2 == 1 {
			amounts, event = constant(24, 40), schema.EventAlertResolved
		}
		end := importHours(t, c.first, hour, amounts, store...)
		hour += len(amounts)
		switch i % 3 { // the kill is before the evaluation, during it, or after it
		case 1:
			c.running[0].eventually(key, aqi("Pune"), shows(end))
		case 2:
			c.running[0].eventually(key, history, func(r reply) bool { return changes(r) > len(want) })
		}
		c.killLeader()
		want = append(want, string(event))
		r.wait("the event of a crossing", func(all []received) bool { return len(distinct(all)) >= len(want) })
	}
	last := c.running[0].eventually(key, history, ok)
	if got := changes(last); got != len(want) {
		t.Errorf("got %d changes, want %d: %s", got, len(want), last.raw)
	}
	all, _ := r.deliveries()
	if diff := cmp.Diff(want, distinct(all)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	t.Logf("%d kills, %d events, %d deliveries", kills, len(want), len(all))
}

// changes returns the number of changes in the history of an alert.
func changes(r reply) int {
	rows, _ := r.body["data"].([]any)
	return len(rows)
}

// distinct returns the types of the distinct events of deliveries, in the order of their first delivery.
func distinct(all []received) (types []string) {
	known := map[string]bool{}
	for _, d := range all {
		if !known[d.ID] {
			known[d.ID] = true
			types = append(types, string(d.Type))
		}
	}
	return types
}
