//go:build integration

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	pagingSensors = 5
	pagingSize    = 10 // records of a page
	pagingPages   = 3  // of a sensor and day
	budgetCalls   = 20
	budgetPeriod  = 4 * time.Second
	backfillFrom  = "2026-05-01T00:00:00Z"
	backfillTo    = "2026-05-09T00:00:00Z"
	backfillDays  = 8
)

// pagingNetwork is a network of sensors with hourly readings: a list of sensors, and the hours of one sensor in pages.
// It notes the calls.
type pagingNetwork struct {
	*httptest.Server

	mu    sync.Mutex
	calls []time.Time
}

func newPagingNetwork(t *testing.T) *pagingNetwork {
	n := new(pagingNetwork)
	n.Server = httptest.NewServer(http.HandlerFunc(n.serve))
	t.Cleanup(n.Close)
	return n
}

func (n *pagingNetwork) serve(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	n.calls = append(n.calls, time.Now())
	n.mu.Unlock()
	rows := []map[string]any{}
	query := r.URL.Query()
	if r.URL.Path == "/sensors" {
		for s := range pagingSensors {
			rows = append(rows, map[string]any{"sensor": s, "name": fmt.Sprint("Made ", s), "lat": 28.6 + float64(s)/100, "lon": 77.2})
		}
		writeRows(w, rows, len(rows))
		return
	}
	from, fromErr := time.Parse(time.RFC3339, query.Get("from"))
	to, toErr := time.Parse(time.RFC3339, query.Get("to"))
	sensor, sensorErr := strconv.Atoi(query.Get("sensor"))
	page, pageErr := strconv.Atoi(query.Get("page"))
	if err := errors.Join(fromErr, toErr, sensorErr, pageErr); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for at := from.Truncate(time.Hour); !at.After(to); at = at.Add(time.Hour) {
		if at.After(from) {
			rows = append(rows, map[string]any{"at": at.Format(time.RFC3339), "pm25": 20 + (at.Unix()/3600*7+int64(sensor)*13)%150, "no2": 5 + at.Hour()})
		}
	}
	first := min(len(rows), (page-1)*pagingSize)
	writeRows(w, rows[first:min(len(rows), first+pagingSize)], len(rows))
}

// writeRows writes a page of a list.
func writeRows(w http.ResponseWriter, rows []map[string]any, total int) {
	if err := json.NewEncoder(w).Encode(map[string]any{"rows": rows, "total": total}); err != nil {
		panic(http.ErrAbortHandler) // the killed process has closed the connection
	}
}

// count returns the number of calls.
func (n *pagingNetwork) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.calls)
}

// mostCalls returns the largest number of calls in any period of the given length.
func (n *pagingNetwork) mostCalls(period time.Duration) (most int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, first := range n.calls {
		end, _ := slices.BinarySearchFunc(n.calls, first.Add(period), time.Time.Compare)
		most = max(most, end-i)
	}
	return most
}

// describe writes the description of the network as the source paging, and returns the flag of its folder.
func (n *pagingNetwork) describe(t *testing.T, budget string) []string {
	t.Helper()
	dir := t.TempDir()
	text := fmt.Sprintf(`local: true
about: sensors with hourly readings
licence: CC0
attribution: Made
schedule: "12 * * * *"
%[2]spartitions:
  request: {url: "%[1]s/sensors"}
  records: rows
  fields: {sensor: sensor, name: name, latitude: lat, longitude: lon}
request:
  url: "%[1]s/hours"
  query: {sensor: "{sensor}", from: "{from}", to: "{to}"}
pages: {by: page, parameter: page, size-parameter: size, size: %[3]d, total: total}
history: {step: 24h}
records: rows
station: {id: part.sensor, name: part.name, latitude: part.latitude, longitude: part.longitude, kind: sensor}
time: {field: at, format: rfc3339, interval: end}
averaging: 1h
readings:
  pm25: {value: pm25, unit: µg/m³}
  no2: {value: no2, unit: µg/m³}
`, n.URL, budget, pagingSize)
	if err := os.WriteFile(filepath.Join(dir, "paging.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--source-dir", dir}
}

// backfillArgs are the arguments of the command in these tests.
func backfillArgs(flags []string, more ...string) []string {
	return slices.Concat([]string{"source", "backfill", "paging", "--from", backfillFrom, "--to", backfillTo}, flags, more)
}

// cleanBackfill returns the tables after an undisturbed backfill, and the number of its calls.
func cleanBackfill(t *testing.T) (want string, calls int) {
	t.Helper()
	network, data := newPagingNetwork(t), t.TempDir()
	out, err := vayu(t, data, backfillArgs(network.describe(t, ""))...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(out, ": done") {
		t.Fatalf("the backfill is not done:\n%s", out)
	}
	return tables(t, data), network.count()
}

// awaitCalls waits until the network has had n calls; false if ended is closed before.
func (n *pagingNetwork) awaitCalls(t *testing.T, want int, ended <-chan struct{}) bool {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for {
		select {
		case <-ended:
			return false
		case <-deadline:
			t.Fatalf("the network has had %d calls, want %d", n.count(), want)
		case <-tick.C:
			if n.count() >= want {
				return true
			}
		}
	}
}

// A backfill whose process is killed several times, of the command and of the service, has the rows of an undisturbed one,
// keeps the call budget across the restarts, and repeats only the windows in progress.
func TestIntegrationKilledBackfillEqualsAnUndisturbedOne(t *testing.T) {
	t.Parallel()
	want, calls := cleanBackfill(t)
	if least := pagingSensors * backfillDays * pagingPages; calls < least {
		t.Fatalf("the undisturbed backfill made %d calls, want %d or more", calls, least)
	}

	network, data := newPagingNetwork(t), t.TempDir()
	flags := network.describe(t, fmt.Sprintf("budget: {calls: [%d/%s]}\n", budgetCalls, budgetPeriod))
	kills := killCount(t, 4)
	killed := 0
	for i := range kills {
		next := network.count() + 1 + calls*2/(3*kills) // leaves a third for the last run
		if i%2 == 0 {
			killed += killCommand(t, network, data, flags, next)
		} else {
			killed += killService(t, network, data, flags, next)
		}
	}
	out, err := vayu(t, data, backfillArgs(flags)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := tables(t, data); got != want {
		t.Errorf("after %d kills:\n%s\nundisturbed:\n%s\nthe last command printed:\n%s", killed, got, want, out)
	}
	t.Logf("%d kills, %d calls, undisturbed %d, at most %d in half a period of the budget", killed, network.count(), calls, network.mostCalls(budgetPeriod/2))
	if killed != kills {
		t.Errorf("%d processes were killed, want %d", killed, kills)
	}
	// The two workers share the sensors, and store the windows of their sensors together. So a kill repeats at most one
	// window of each sensor, and the list of sensors.
	if got, most := network.count(), calls+killed*(pagingSensors*pagingPages+1); got > most {
		t.Errorf("%d calls, want at most %d", got, most)
	}
	// Calls of one period may arrive a little closer than they were sent.
	if got := network.mostCalls(budgetPeriod / 2); got > budgetCalls {
		t.Errorf("%d calls within half a period, want at most %d", got, budgetCalls)
	}
}

// killCommand runs the command without a service, and kills it after the given number of calls. It returns the number of
// kills.
func killCommand(t *testing.T, network *pagingNetwork, data string, flags []string, calls int) int {
	t.Helper()
	cmd := exec.Command(binary(t), append(backfillArgs(flags), "--data", data, "--engine-port", "0")...)
	cmd.Dir = t.TempDir()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	killed := 0
	if network.awaitCalls(t, calls, ended) {
		killed = 1
		_ = cmd.Process.Kill()
	}
	<-ended
	return killed
}

// killService has a service do the work, and kills it after the given number of calls. It returns the number of kills.
func killService(t *testing.T, network *pagingNetwork, data string, flags []string, calls int) int {
	t.Helper()
	s := start(t, data, flags...)
	if out, err := vayu(t, data, backfillArgs(flags, "--detach")...); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !network.awaitCalls(t, calls, s.done) {
		return 0
	}
	s.stop(syscall.SIGKILL)
	return 1
}
