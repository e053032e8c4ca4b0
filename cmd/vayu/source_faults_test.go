//go:build integration

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// seededFault is a fault of one record: what differs from a right record, and how SQL shows it.
type seededFault struct {
	name    string
	changes map[string]any
	reason  string
}

var seededFaults = []seededFault{
	{"text", map[string]any{"value": "twelve"}, "bad_number"},
	{"negative", map[string]any{"value": -3}, "negative_value"},
	{"huge", map[string]any{"value": 1e12}, "out_of_range"},
	{"parameter", map[string]any{"what": "plutonium"}, "unknown_pollutant"},
	{"unit", map[string]any{"unit": "furlong"}, "unknown_unit"},
	{"time", map[string]any{"at": "yesterday"}, "bad_time"},
	{"future", map[string]any{"at": "2100-01-01T00:00:00Z"}, "future_time"},
	{"ancient", map[string]any{"at": "1999-01-01T00:00:00Z"}, "ancient_time"},
	{"station", map[string]any{"sensor": nil}, "no_station"},
	{"position", map[string]any{"lat": 51.5, "lon": 0.1}, "bad_position"},
	{"empty", map[string]any{"value": nil}, "missing_value"},
	{"marker", map[string]any{"value": -999}, "missing_value"},
}

// failedReplies are faults of whole replies, one for each of the first days, and texts of their errors. Each day is right
// when it is requested again.
var failedReplies = []struct {
	reply func(http.ResponseWriter)
	error string
}{
	{func(w http.ResponseWriter) { http.Error(w, "maintenance until noon", http.StatusServiceUnavailable) }, "status 503 Service Unavailable: maintenance until noon"},
	{func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>Please log in")) }, "a web page (HTML)"},
	{func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"rows": [{"sensor": "s-1"`)) }, "cut off"},
	{func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"data": []}`)) }, "rows"},
}

// faultyNetwork serves a right record for each day, and the seeded faults on the last day.
type faultyNetwork struct {
	mu     sync.Mutex
	days   map[string]int    // number of each requested day
	failed map[string]bool   // days whose faulty reply was sent
	bodies map[string]string // right replies by day
}

func (n *faultyNetwork) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	day, err := time.Parse(time.RFC3339, r.URL.Query().Get("from"))
	if err != nil {
		http.Error(w, "no from", http.StatusBadRequest)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	key := day.Format(time.DateOnly)
	number, known := n.days[key]
	if !known {
		number = len(n.days)
		n.days[key] = number
	}
	if number < len(failedReplies) && !n.failed[key] {
		n.failed[key] = true
		failedReplies[number].reply(w)
		return
	}
	record := func(name string, changes map[string]any) map[string]any {
		out := map[string]any{
			"mark": "mark-" + name, "sensor": "s-" + name, "lat": 28.6, "lon": 77.2, "at": day.Add(12 * time.Hour).Format(time.RFC3339),
			"what": "pm25", "value": 40, "unit": "µg/m³",
		}
		maps.Copy(out, changes)
		return out
	}
	rows := []map[string]any{record("right", nil)}
	if number == len(failedReplies) {
		for _, fault := range seededFaults {
			rows = append(rows, record(fault.name, fault.changes))
		}
	}
	body, err := json.Marshal(map[string]any{"rows": rows})
	if err != nil {
		panic(err)
	}
	n.bodies[key] = string(body)
	_, _ = w.Write(body)
}

// faultyFixture fetches five days of the network, and returns the network and the data directory.
func faultyFixture(t *testing.T) (n *faultyNetwork, data string) {
	t.Helper()
	n = &faultyNetwork{days: make(map[string]int), failed: make(map[string]bool), bodies: make(map[string]string)}
	server := httptest.NewServer(n)
	t.Cleanup(server.Close)
	dir, data := t.TempDir(), t.TempDir()
	text := fmt.Sprintf(`local: true
about: sensors with seeded faults
licence: CC0
attribution: Made
schedule: "12 * * * *"
request: {url: "%s/", query: {from: "{from}", to: "{to}"}}
history: {step: 24h}
records: rows
station: {id: sensor, latitude: lat, longitude: lon, kind: sensor}
time: {field: at, format: rfc3339, interval: end}
averaging: 1h
value: {field: value, parameter-field: what, unit-field: unit}
`, server.URL)
	if err := os.WriteFile(filepath.Join(dir, "faulty.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := vayu(t, data, "source", "backfill", "faulty", "--from", "2026-05-01T00:00:00Z", "--to", "2026-05-06T00:00:00Z", "--source-dir", dir)
	if err != nil || !strings.Contains(out, ": done") {
		t.Fatalf("%v\n%s", err, out)
	}
	return n, data
}

// selectText returns the result of a query of the administrator as CSV.
func selectText(t *testing.T, data, query string) string {
	t.Helper()
	out, err := vayu(t, data, "sql", "--write", "--format", "csv", query)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(out)
}

// Every seeded fault of a record is found in SQL by its reason, with the text of the record. Empty values are counted.
func TestIntegrationSeededFaultsAreFoundInSQL(t *testing.T) {
	t.Parallel()
	n, data := faultyFixture(t)
	marks := selectText(t, data, `SELECT reason || ' ' || extract(raw, '"mark":"mark-(\\w+)"') FROM vayu_ops.rejected FINAL WHERE source = 'faulty'`)
	for _, fault := range seededFaults {
		if want := fault.reason + " " + fault.name; fault.reason != "missing_value" && !strings.Contains(marks, want) {
			t.Errorf("the rejected values have no %q:\n%s", want, marks)
		}
	}
	if got := selectText(t, data, "SELECT sum(rejected['missing_value']) FROM vayu_ops.source_run FINAL WHERE source = 'faulty'"); !strings.HasSuffix(got, "\n2") {
		t.Errorf("the runs count %s missing values, want 2", got)
	}
	failures := selectText(t, data, "SELECT error FROM vayu_ops.source_run FINAL WHERE source = 'faulty' AND outcome != 'done'")
	for _, reply := range failedReplies {
		if !strings.Contains(failures, reply.error) {
			t.Errorf("no failed run has the error %q:\n%s", reply.error, failures)
		}
	}
	hashes := selectText(t, data, `SELECT toDate(r.window_from) AS day, r.body_sha256 FROM vayu.reading AS f FINAL JOIN vayu_ops.source_run AS r FINAL ON r.run = f.run
		WHERE f.station = 'faulty-s-right' ORDER BY day`)
	if rows := strings.Count(hashes, "2026-05-"); rows != len(n.bodies) {
		t.Errorf("%d readings lead to their bytes, want %d:\n%s", rows, len(n.bodies), hashes)
	}
	for day, body := range n.bodies {
		if sum := sha256.Sum256([]byte(body)); !strings.Contains(hashes, hex.EncodeToString(sum[:])) {
			t.Errorf("%s: no run has the hash of the reply:\n%s", day, hashes)
		}
	}
}
