package evaluation_test

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/config"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/realdata"
	"vayu/query/alert/evaluation"
	"vayu/schema"
)

// bulletins returns the AQI of each city on each day of the first half of 2024.
func bulletins(t *testing.T) (days []map[string]int) {
	t.Helper()
	file, err := os.Open(realdata.Path(t, "cpcb/bulletins_2024h1.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	dates := map[string]map[string]int{}
	for _, row := range rows[1:] {
		aqi, err := strconv.Atoi(row[3])
		if err != nil {
			continue
		}
		if dates[row[0]] == nil {
			dates[row[0]] = map[string]int{}
			days = append(days, dates[row[0]])
		}
		dates[row[0]][row[1]] = aqi
	}
	return days
}

// limits are the limits of the alerts of each city in a replay.
var limits = [...]int{200, 300}

// crossings returns the expected events of each alert: + for triggered, - for resolved.
func crossings(days []map[string]int) map[string]string {
	out := map[string]string{}
	triggered := map[string]bool{}
	for _, day := range days {
		for city, aqi := range day {
			for _, limit := range limits {
				key := fmt.Sprint(city, " ", limit)
				switch over := aqi > limit; {
				case over && !triggered[key]:
					out[key] += "+"
				case !over && triggered[key]:
					out[key] += "-"
				}
				triggered[key] = aqi > limit
			}
		}
	}
	return out
}

const (
	replayData = "VAYU_REPLAY_DATA" // data directory of the store of TestReplayChild
	replayDSN  = "VAYU_REPLAY_DSN"
)

// TestReplayChild is the process that TestKilledReplay kills. It publishes the days after the evaluated one, and prints
// each day after its evaluation.
func TestReplayChild(t *testing.T) {
	c := sqlstore.Config{Data: os.Getenv(replayData), DSN: config.DSN(os.Getenv(replayDSN))}
	if c.Data == "" && c.DSN == "" {
		t.Skip("only TestKilledReplay runs this test")
	}
	f := &fixture{db: sqlstoretest.Open(t, c), air: &fakeAir{past: make(map[string]map[uint32]int)}, now: start}
	f.outbox(t)
	f.restart()
	evaluated, err := evaluation.ReadProgress(t.Context(), f.db, schema.Sandbox)
	if err != nil {
		t.Fatal(err)
	}
	for n, day := range bulletins(t) {
		if hour := uint32(start.Unix()) + uint32(n*24*3600); hour >= evaluated.Hour {
			f.hour(t, n*24, day)
			for range 20 { // each evaluates the missed hours of some cities
				f.refresh(t)
			}
			_, _ = fmt.Fprintln(os.Stdout, "day", n)
		}
	}
}

// The replay of half a year of bulletins makes one event for each crossing, although its process is killed.
func TestKilledReplay(t *testing.T) {
	t.Parallel()
	kills := 2
	if text := os.Getenv("VAYU_TEST_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatalf("VAYU_TEST_KILLS: %v", err)
		}
	}
	days := bulletins(t)
	want := crossings(days)
	for engine, fresh := range sqlstoretest.Fresh {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := fresh(t)
			db, stop := sqlstoretest.Start(t, c)
			addAlerts(t, db, days)
			stop()
			for n := range kills {
				if !replay(t, c, n, len(days)/(kills+1)-n%3) {
					t.Errorf("kill %d of %d did not happen", n+1, kills)
				}
			}
			replay(t, c, kills, 0)
			if diff := cmp.Diff(want, replayed(t, sqlstoretest.Open(t, c))); diff != "" {
				t.Errorf("events of each alert (-want +got):\n%s", diff)
			}
		})
	}
}

// addAlerts stores alerts of all cities.
func addAlerts(t *testing.T, db *sqlstore.DB, days []map[string]int) {
	t.Helper()
	tenant := accesstest.AddTenant(t, db, "tenant")
	cities := map[string]bool{}
	for _, day := range days {
		for city := range day {
			cities[city] = true
		}
	}
	err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
		n := 0
		for city := range cities {
			for _, limit := range limits {
				n++
				if _, err := tx.Exec(`INSERT INTO alert (id, account_id, mode, definition, active, state, level, before, hour, version, created_at, updated_at, revision)
					VALUES ($1, $2, 'sandbox', $3, 1, 'ok', -1, -1, 0, 0, $4, $4, 1)`, fmt.Sprintf("alt_%026d", n), tenant.ID,
					fmt.Sprintf(`{"name":"%s %d","place":{"city":%[1]q,"name":%[1]q},"condition":{"metric":"aqi","over":%[2]d},"language":"en"}`, city, limit),
					start.Add(-time.Hour).UnixMicro()); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// replay runs the child process, and kills it during the evaluation after it has printed some days. A child that ends
// before must have succeeded. It returns whether the process was killed.
func replay(t *testing.T, c sqlstore.Config, run, most int) (killed bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestReplayChild$")
	cmd.Env = append(os.Environ(), replayData+"="+c.Data, replayDSN+"="+string(c.DSN))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for text := bufio.NewScanner(out); text.Scan(); {
		lines = append(lines, text.Text())
		if len(lines) == most && most > 0 && !killed {
			killed = true
			_ = cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); err != nil && !killed {
		t.Fatalf("run %d: %v: %v", run, err, lines[max(len(lines)-5, 0):])
	}
	return killed
}

// replayed returns the events of each alert by its name, in their order.
func replayed(t *testing.T, db *sqlstore.DB) map[string]string {
	t.Helper()
	f := &fixture{db: db}
	out := map[string]string{}
	for _, e := range f.all(t) {
		sign := "-"
		if e.Data.State == "triggered" {
			sign = "+"
		}
		out[e.Data.Name] += sign
	}
	return out
}
