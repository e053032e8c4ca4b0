package monitor_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/dispatch/outbox"
	"vayu/ingest"
	"vayu/ingest/journal"
	"vayu/ingest/monitor"
	"vayu/internal/access/apikey"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/columnstore/migration"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/migrations/clickhouse"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

var noon = time.Date(2026, 11, 20, 12, 10, 0, 0, time.UTC)

// monitorFixture is a monitor of the live source feed, with a week of hourly runs.
type monitorFixture struct {
	*monitor.Monitor
	t     *testing.T
	db    *sqlstore.DB
	store *monitor.Store
	log   *journal.Journal
	clock fixture.Clock
	reg   *prometheus.Registry
}

func newFixture(t *testing.T, db *sqlstore.DB) *monitorFixture {
	t.Helper()
	engine := columnstoretest.New(t)
	p := migration.Params{Database: columnstoretest.Database(t, engine), Files: clickhouse.OpsFiles()}
	if err := migration.Apply(t.Context(), engine, p); err != nil {
		t.Fatal(err)
	}
	m := &monitorFixture{t: t, db: db, store: &monitor.Store{DB: db, Scope: "live"}, log: journal.New(engine.Conn(), p.Database, schema.Live), reg: prometheus.NewRegistry()}
	m.clock.Set(noon)
	m.Monitor = monitor.New(monitor.Config{
		Conn: engine.Conn(), Database: p.Database, World: schema.Live, Store: m.store, Accounts: apikey.Operators,
		Events: outbox.New(outbox.Config{DB: db, Now: m.clock.Now}), Limits: map[string]monitor.Limits{"feed": {MaxSilence: 6 * time.Hour}},
		Metrics: monitor.NewMetrics(m.reg), Log: slog.New(slog.DiscardHandler), Now: m.clock.Now,
	})
	for id, scopes := range map[string]string{"acc_operator": "aqi:read sources:read", "acc_customer": "aqi:read webhooks:manage", "acc_revoked": "sources:read"} {
		m.exec("INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ($1, $1, 'free', '', 0, 1)", id)
		m.exec(`INSERT INTO api_key (id, account_id, mode, name, hash, prefix, last_four, scopes, allow_list, require_signature, created_at, revision)
			VALUES ($1, $2, 'live', '', $3, '', '', $4, '', 0, 0, 1)`, "key_"+id, id, []byte(id), scopes)
	}
	m.exec("UPDATE api_key SET revoked_at = 1 WHERE account_id = 'acc_revoked'")
	var runs []ingest.Run
	for h := 7 * 24; h > 0; h-- {
		runs = append(runs, *m.run(noon.Add(-time.Duration(h)*time.Hour), func(*ingest.Run) {}))
	}
	m.record(runs)
	return m
}

// run returns a good run, changed by a function.
func (m *monitorFixture) run(at time.Time, change func(*ingest.Run)) *ingest.Run {
	end := ingest.HourEndUnix(at.Unix()) - 3600
	r := &ingest.Run{
		ID: ingest.NewRunID(at), Source: "feed", Kind: ingest.LiveRun, Outcome: "done", Stored: 100, Newest: time.Unix(end, 0), ConfigSHA256: "c",
		Fingerprint: ingest.Fingerprint{
			Fields: map[string]ingest.FieldType{"id": ingest.NumberField, "pm25": ingest.NumberField}, Units: map[string][]string{"pm25": {"µg/m³"}},
		},
		Hours: map[int64]int{end: 100, end - 3600: 100},
	}
	change(r)
	return r
}

func (m *monitorFixture) record(runs []ingest.Run) {
	m.t.Helper()
	if err := m.log.Record(m.t.Context(), runs); err != nil {
		m.t.Fatal(err)
	}
}

// pass lets hours pass, with a run in each.
func (m *monitorFixture) pass(hours int, change func(*ingest.Run)) {
	m.t.Helper()
	var runs []ingest.Run
	for range hours {
		runs = append(runs, *m.run(m.clock.Now(), change))
		m.clock.Advance(time.Hour)
	}
	m.record(runs)
}

func (m *monitorFixture) exec(statement string, args ...any) {
	m.t.Helper()
	if err := m.db.Update(m.t.Context(), func(tx *sqlstore.Tx) error { _, err := tx.Exec(statement, args...); return err }); err != nil {
		m.t.Fatal(err)
	}
}

// check checks the sources several times, a minute apart.
func (m *monitorFixture) check(times int) {
	m.t.Helper()
	for range times {
		if err := m.Check(m.t.Context()); err != nil {
			m.t.Fatal(err)
		}
		m.clock.Advance(time.Minute)
	}
	m.clock.Advance(-time.Duration(times) * time.Minute)
}

// problems returns the stored problems of the feed with their details.
func (m *monitorFixture) problems() map[air.Problem]string {
	m.t.Helper()
	all, err := m.store.Problems(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	found := make(map[air.Problem]string)
	for _, p := range all["feed"] {
		found[p.Problem] = p.Detail
	}
	return found
}

// events returns the accounts and types of all events, and the data of the last one.
func (m *monitorFixture) events() (all []string, last map[string]any) {
	m.t.Helper()
	err := sqlstore.Each(m.db.View(m.t.Context()), func(row sqlstore.Scanner) error {
		var account, typ string
		var envelope []byte
		if err := row.Scan(&account, &typ, &envelope); err != nil {
			return err
		}
		all = append(all, account+" "+typ)
		var event struct{ Data map[string]any }
		err := json.Unmarshal(envelope, &event)
		last = event.Data
		return err
	}, "SELECT account_id, type, envelope FROM event ORDER BY id")
	if err != nil {
		m.t.Fatal(err)
	}
	return all, last
}

// TestSeededFaultsAreFound has a fault for each problem. Each is found in the state store, in
// the metric and in an event of the operator, and ends when the fault does.
func TestSeededFaultsAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault   func(*ingest.Run)
		hours   int // of the fault
		repair  int // good hours until the problem ends
		problem air.Problem
		detail  string
	}{
		"failing runs": {func(r *ingest.Run) { r.Outcome, r.Hours, r.Fingerprint = "refused", nil, ingest.Fingerprint{} }, 3, 2, air.ProblemFailing, "the last 3 runs failed: refused"},
		"nothing new":  {func(r *ingest.Run) { r.Newest, r.Stored, r.Hours = time.Unix(0, 0), 0, nil }, 7, 6, air.ProblemSilent, "the limit is 6h0m0s"},
		"half of the stations": {func(r *ingest.Run) {
			for end := range r.Hours {
				r.Hours[end] = 50
			}
		}, 7, 6, air.ProblemCoverage, "50 of the usual 100 readings"},
		"renamed field": {func(r *ingest.Run) {
			r.Fingerprint.Fields = map[string]ingest.FieldType{"id": ingest.NumberField, "pm2_5": ingest.NumberField}
		}, 3, 1, air.ProblemDrift, "fields that are gone: pm25; new fields: pm2_5"},
		"other unit": {func(r *ingest.Run) { r.Fingerprint.Units = map[string][]string{"pm25": {"mg/m³"}} }, 3, 3, air.ProblemDrift, "other units: pm25 in mg/m³"},
		"fast clock": {func(r *ingest.Run) {
			r.Rejected = ingest.Rejections{ingest.FutureTime: 2}
			r.Values = []ingest.RejectedValue{{Reason: ingest.FutureTime, Field: "pm25", Station: "feed-7", Line: 1, Raw: "{}"}}
		}, 3, 6, air.ProblemClock, "stations: feed-7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
				m := newFixture(t, db)
				m.check(5)
				if got := m.problems(); len(got) > 0 {
					t.Fatalf("problems of a good source: %v", got)
				}
				m.pass(c.hours, c.fault)
				m.check(2)
				if got := m.problems(); len(got) > 0 {
					t.Errorf("problems %v after two checks", got)
				}
				m.check(3)
				got := m.problems()
				if len(got) != 1 || !strings.Contains(got[c.problem], c.detail) {
					t.Errorf("problems %v, want %s with %q", got, c.problem, c.detail)
				}
				if got := m.gauge(c.problem); got != 1 {
					t.Errorf("the metric is %v, want 1", got)
				}
				events, data := m.events()
				if diff := cmp.Diff([]string{"acc_operator source.degraded"}, events); diff != "" {
					t.Fatalf("events (-want +got):\n%s", diff)
				}
				if data["source"] != "feed" || data["degraded_at"] == nil || len(data["problems"].([]any)) != 1 {
					t.Errorf("the data of the event: %v", data)
				}
				m.pass(c.repair, func(*ingest.Run) {})
				m.check(10)
				if got := m.problems(); len(got) > 0 {
					t.Errorf("problems %v after the repair", got)
				}
				events, data = m.events()
				if diff := cmp.Diff([]string{"acc_operator source.degraded", "acc_operator source.recovered"}, events); diff != "" {
					t.Fatalf("events (-want +got):\n%s", diff)
				}
				if data["problems"].([]any)[0] != string(c.problem) || data["recovered_at"] == nil {
					t.Errorf("the data of the event: %v", data)
				}
			})
		})
	}
}

// gauge returns the value of the metric of a problem.
func (m *monitorFixture) gauge(problem air.Problem) (value float64) {
	m.t.Helper()
	families, err := m.reg.Gather()
	if err != nil {
		m.t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == "vayu_source_problem" && strings.Contains(fmt.Sprint(metric.GetLabel()), `"`+string(problem)+`"`) {
				value = metric.GetGauge().GetValue()
			}
		}
	}
	return value
}

// A monitor that starts again, or on another instance, repeats no event. A source that is no
// longer collected loses its problems.
func TestProblemsSurviveRestart(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		m := newFixture(t, db)
		failed := func(r *ingest.Run) { r.Outcome, r.Hours = "fetch_failed", nil }
		m.pass(3, failed)
		m.check(3)
		before := m.problems()
		c := m.Config
		c.Metrics = monitor.NewMetrics(prometheus.NewRegistry())
		m.Monitor = monitor.New(c)
		m.check(6)
		if diff := cmp.Diff(before, m.problems()); diff != "" || len(before) != 1 {
			t.Errorf("problems %v after a restart (-before +after):\n%s", before, diff)
		}
		if events, _ := m.events(); len(events) != 1 {
			t.Errorf("events %v, want one", events)
		}
		c.Limits, c.Metrics = nil, monitor.NewMetrics(prometheus.NewRegistry())
		m.Monitor = monitor.New(c)
		m.check(1)
		if got := slices.Collect(maps.Keys(m.problems())); len(got) > 0 {
			t.Errorf("problems %v of a source that is not collected", got)
		}
	})
}
