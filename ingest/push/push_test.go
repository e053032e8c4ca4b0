package push_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/ingest/loader"
	"vayu/ingest/push"
	"vayu/internal/access"
	"vayu/internal/access/accesstest"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/sqlstore/sqlstoretest"
	testfixture "vayu/internal/testing/fixture"
	"vayu/schema"
	"vayu/schema/air"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

// now is the current time of every test.
var now = time.Date(2026, 11, 20, 9, 12, 0, 0, time.UTC)

// fixture is a push service with its stores, and an account.
type fixture struct {
	accesstest.Client

	conn      driver.Conn
	databases [len(schema.Worlds)]string
	live      string // database of the live world
	access    *access.Service
	account   accesstest.Tenant
	other     accesstest.Tenant
	store     *failingStore // of the live world
}

// failingStore is a loader that can fail.
type failingStore struct {
	*loader.Loader

	fails atomic.Bool
	loads atomic.Int32
}

func (s *failingStore) Load(ctx context.Context, b *ingest.Batch) error {
	s.loads.Add(1)
	if s.fails.Load() {
		return errors.New("the store fails")
	}
	return s.Loader.Load(ctx, b)
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	db := columnstoretest.New(tb)
	databases := [len(schema.Worlds)]string{}
	for _, w := range schema.Worlds {
		databases[w] = columnstoretest.Migrated(tb, db)
	}
	f := &fixture{conn: db.Conn(), live: databases[schema.Live]}
	state := sqlstoretest.SQLite(tb)
	clock := func() time.Time { return now }
	f.account, f.other = accesstest.AddTenant(tb, state, "one"), accesstest.AddTenant(tb, state, "other")
	f.access = accesstest.Access(tb, state, clock)
	f.databases = databases
	f.store = &failingStore{Loader: loader.New(f.conn, f.live)}
	f.Client = f.instance(tb)
	return f
}

// instance starts another push service on the same stores, and returns its client.
func (f *fixture) instance(tb testing.TB) accesstest.Client {
	tb.Helper()
	service, err := push.New(push.Config{
		Conn: f.conn, Database: func(w schema.World) string { return f.databases[w] },
		Store: func(w schema.World) push.Store {
			if w == schema.Live {
				return f.store
			}
			return loader.New(f.conn, f.databases[w])
		},
		Change: f.access.Change, Replay: f.access.Replay, Now: func() time.Time { return now },
	})
	if err != nil {
		tb.Fatal(err)
	}
	testfixture.Run(tb, service.Run)
	return accesstest.NewClient(tb, f.access, service.Routes())
}

// post sends readings of the account to the live world.
func (f *fixture) post(contentType, body string, header ...string) accesstest.Reply {
	return f.Do(f.account.Keys[schema.Live], "POST", "/v1/readings", body, append([]string{"Content-Type", contentType}, header...)...)
}

// put registers a station of the account in the live world.
func (f *fixture) put(name, body string) accesstest.Reply {
	return f.Do(f.account.Keys[schema.Live], "PUT", "/v1/stations/"+name, body)
}

// stored returns the stored readings as text, by station and time.
func (f *fixture) stored(tb testing.TB) []string {
	tb.Helper()
	rows, err := f.conn.Query(tb.Context(), "SELECT station, parameter, toUnixTimestamp(at), value, averaging, source FROM "+f.live+".reading FINAL ORDER BY station, at")
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var (
			station, parameter, source string
			at                         uint32
			value                      float64
			averaging                  uint16
		)
		if err := rows.Scan(&station, &parameter, &at, &value, &averaging, &source); err != nil {
			tb.Fatal(err)
		}
		_, name, _ := strings.Cut(station, "-")
		out = append(out, fmt.Sprintf("%s %s %s %g %d %s", name, parameter, time.Unix(int64(at), 0).UTC().Format("15:04"), value, averaging, source))
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return out
}

// count returns the number of rows of a table of the live world.
func (f *fixture) count(tb testing.TB, table string) uint64 {
	tb.Helper()
	var n uint64
	if err := f.conn.QueryRow(tb.Context(), "SELECT count() FROM "+f.live+"."+table+" FINAL").Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

const roof = `{"name":"Roof","latitude":28.6315,"longitude":77.2167,"kind":"sensor"}`

// The same two readings in every format are the same stored rows.
func TestFormatsStoreTheSameReadings(t *testing.T) {
	t.Parallel()
	want := []string{"roof-1 pm25 08:30 61.5 60 push", "roof-1 co 08:45 1.5 15 push"}
	for contentType, body := range map[string]string{
		"application/json": `{"readings":[
			{"station":"roof-1","parameter":"pm25","value":61.5,"unit":"µg/m³","at":"2026-11-20T14:00:00+05:30"},
			{"station":"roof-1","parameter":"CO","value":1500,"unit":"ug/m3","at":"2026-11-20T08:45:00Z","averaging_minutes":15}]}`,
		"application/x-ndjson": `{"station":"roof-1","parameter":"pm25","value":61.5,"unit":"µg/m³","at":"2026-11-20T08:30:00Z"}
			{"station":"roof-1","parameter":"co","value":1.5,"unit":"mg/m3","at":"2026-11-20T08:45:00Z","averaging_minutes":15}
`,
		"text/csv": "at,station,unit,value,parameter,averaging_minutes,ignored\r\n" +
			"2026-11-20T08:30:00Z,roof-1,µg/m³,61.5,pm25,,x\r\n2026-11-20T08:45:00Z,roof-1,mg/m³,1.5,co,15,y\r\n",
	} {
		t.Run(contentType, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.put("roof-1", roof).Want(t, "register", 200)
			reply := f.post(contentType, body).Want(t, "push", 200)
			if got := reply.At("accepted"); got != 2.0 {
				t.Errorf("accepted %v, want 2: %s", got, reply.Text)
			}
			if diff := cmp.Diff(want, f.stored(t)); diff != "" {
				t.Errorf("stored readings (-want +got):\n%s", diff)
			}
		})
	}
}

// A rejected reading is named, and the others are stored.
func TestRejectedReadingsAreNamed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("roof-1", roof).Want(t, "register", 200)
	const good = `"station":"roof-1","parameter":"pm25","value":61.5,"unit":"ug/m3","at":"2026-11-20T08:30:00Z"`
	for _, row := range []struct{ name, reading, reason, field string }{
		{"unknown station", `{"station":"roof-2","parameter":"pm25","value":1,"unit":"ug/m3","at":"2026-11-20T08:30:00Z"}`, "no_station", "station"},
		{"bad station", `{"station":"a/b","parameter":"pm25","value":1,"unit":"ug/m3","at":"2026-11-20T08:30:00Z"}`, "no_station", "station"},
		{"unknown parameter", `{"station":"roof-1","parameter":"pm99","value":1,"unit":"ug/m3","at":"2026-11-20T08:30:00Z"}`, "unknown_pollutant", "parameter"},
		{"no value", `{"station":"roof-1","parameter":"pm25","unit":"ug/m3","at":"2026-11-20T08:30:00Z"}`, "missing_value", "value"},
		{"value as text", `{"station":"roof-1","parameter":"pm25","value":"1","unit":"ug/m3","at":"2026-11-20T08:30:00Z"}`, "bad_line", "value"},
		{"negative value", `{"station":"roof-1","parameter":"pm25","value":-3,"unit":"ug/m3","at":"2026-11-20T08:30:00Z"}`, "negative_value", "value"},
		{"marker", `{"station":"roof-1","parameter":"pm25","value":-999,"unit":"ug/m3","at":"2026-11-20T08:30:00Z"}`, "missing_value", "value"},
		{"huge value", `{"station":"roof-1","parameter":"pm25","value":1e6,"unit":"ug/m3","at":"2026-11-20T08:30:00Z"}`, "out_of_range", "value"},
		{"unknown unit", `{"station":"roof-1","parameter":"pm25","value":1,"unit":"stone","at":"2026-11-20T08:30:00Z"}`, "unknown_unit", "unit"},
		{"bad time", `{"station":"roof-1","parameter":"pm25","value":1,"unit":"ug/m3","at":"yesterday"}`, "bad_time", "at"},
		{"future time", `{"station":"roof-1","parameter":"pm25","value":1,"unit":"ug/m3","at":"2026-11-20T10:30:00Z"}`, "future_time", "at"},
		{"old time", `{"station":"roof-1","parameter":"pm25","value":1,"unit":"ug/m3","at":"2026-10-01T10:30:00Z"}`, "ancient_time", "at"},
		{"long interval", `{` + good + `,"averaging_minutes":1441}`, "bad_time", "averaging_minutes"},
		{"position outside India", `{"station":"roof-3","parameter":"pm25","value":1,"unit":"ug/m3","at":"2026-11-20T08:30:00Z","latitude":0,"longitude":0}`, "bad_position", "latitude"},
		{"no object", `7`, "bad_line", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			reply := f.post("application/json", `{"readings":[`+row.reading+`,{`+good+`}]}`).Want(t, "push", 200)
			if got := reply.At("accepted"); got != 1.0 {
				t.Errorf("accepted %v, want 1", got)
			}
			list, _ := reply.At("rejected").([]any)
			if len(list) != 1 {
				t.Fatalf("%d are rejected, want 1: %s", len(list), reply.Text)
			}
			rejected, _ := list[0].(map[string]any)
			field, _ := rejected["field"].(string)
			if rejected["reason"] != row.reason {
				t.Errorf("reason %v, want %q", rejected["reason"], row.reason)
			}
			if field != row.field {
				t.Errorf("field %q, want %q", field, row.field)
			}
			if rejected["index"] != 0.0 {
				t.Errorf("index %v, want 0", rejected["index"])
			}
		})
	}
}

// A body that is invalid as a whole stores nothing.
func TestInvalidBodies(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, row := range []struct {
		name, contentType, body string
		status                  int
		code                    schema.Code
		field                   string
	}{
		{"no JSON", "application/json", `{"readings":`, 400, schema.InvalidJSON, ""},
		{"no list", "application/json", `{}`, 400, schema.InvalidRequest, "readings"},
		{"list of another type", "application/json", `{"readings":7}`, 400, schema.InvalidRequest, "readings"},
		{"no body", "application/json", ``, 400, schema.InvalidRequest, ""},
		{"CSV without a column", "text/csv", "station,parameter,value,unit\n", 400, schema.InvalidRequest, "at"},
		{"CSV with a column twice", "text/csv", "station,parameter,value,unit,at,at\n", 400, schema.InvalidRequest, "at"},
		{"no object", "application/json", `[]`, 400, schema.InvalidJSON, ""},
		{"two objects", "application/json", `{"readings":[]}{}`, 400, schema.InvalidJSON, ""},
		{"a name twice", "application/json", `{"readings":[],"readings":[]}`, 400, schema.InvalidJSON, ""},
		{"cut in a reading", "application/json", `{"readings":[{"station":"a`, 400, schema.InvalidJSON, ""},
		{"too many in JSON", "application/json", `{"readings":[` + strings.Repeat("1,", 100_000) + `1]}`, 413, schema.PayloadTooLarge, "readings"},
		{"too many in CSV", "text/csv", "station,parameter,value,unit,at\n" + strings.Repeat("a\n", 100_001), 413, schema.PayloadTooLarge, "readings"},
		{"endless CSV header", "text/csv", strings.Repeat(",", 10<<20), 400, schema.InvalidRequest, ""},
		{"another type", "text/plain", "x", 415, schema.UnsupportedMediaType, "Content-Type"},
		{"too many", "application/x-ndjson", strings.Repeat("7\n", 100_001), 413, schema.PayloadTooLarge, "readings"},
		{"too large", "application/x-ndjson", strings.Repeat(" ", 10<<20+1), 413, schema.PayloadTooLarge, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			f.post(row.contentType, row.body).WantError(t, row.name, row.status, row.code, row.field)
		})
	}
	if n := f.count(t, "reading"); n != 0 {
		t.Errorf("%d readings are stored, want 0", n)
	}
}

// A position in a reading registers a private station, whose place follows from it.
func TestReadingRegistersStation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.post("application/json", `{"readings":[
		{"station":"roof-9","parameter":"pm25","value":61.5,"unit":"ug/m3","at":"2026-11-20T08:30:00Z","latitude":28.6315,"longitude":77.2167,"name":" My  roof "},
		{"station":"roof-9","parameter":"pm10","value":90,"unit":"ug/m3","at":"2026-11-20T08:30:00Z"}]}`).Want(t, "push", 200)
	var id, name, city, state, kind string
	var published uint8
	row := f.conn.QueryRow(t.Context(), "SELECT id, name, city, state, toString(kind), published FROM "+f.live+".pushed_station FINAL")
	if err := row.Scan(&id, &name, &city, &state, &kind, &published); err != nil {
		t.Fatal(err)
	}
	got := []string{id, name, city, state, kind, fmt.Sprint(published)}
	if diff := cmp.Diff([]string{air.OwnStationID(f.account.ID, "roof-9"), "My roof", "Delhi", "Delhi", "sensor", "0"}, got); diff != "" {
		t.Errorf("the registered station (-want +got):\n%s", diff)
	}
	if n := f.count(t, "reading"); n != 2 {
		t.Errorf("%d readings are stored, want 2", n)
	}
	if n := f.count(t, "station"); n != 0 {
		t.Errorf("%d stations are public, want 0", n)
	}
}

// A published station counts as a sensor for everybody, and cannot become private again.
func TestPublishedStation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const public = `{"name":"Gate","latitude":28.6315,"longitude":77.2167,"kind":"reference","licence":"CC-BY-4.0","published":true}`
	f.put("gate", public).Want(t, "register", 200)
	f.post("application/json", `{"readings":[{"station":"gate","parameter":"pm25","value":61.5,"unit":"ug/m3","at":"2026-11-20T08:30:00Z"}]}`).Want(t, "push", 200)
	var kind, licence, attribution string
	if err := f.conn.QueryRow(t.Context(), "SELECT toString(kind), licence, attribution FROM "+f.live+".station FINAL").Scan(&kind, &licence, &attribution); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"sensor", "CC-BY-4.0", "Gate"}, []string{kind, licence, attribution}); diff != "" {
		t.Errorf("the public station (-want +got):\n%s", diff)
	}
	f.put("gate", strings.Replace(public, "true", "false", 1)).WantError(t, "hide", 409, schema.Conflict, "published")
	reply := f.put("gate", `{"name":"East gate","latitude":28.6315,"longitude":77.2167,"kind":"reference"}`).Want(t, "rename", 200)
	if got := reply.At("data.published"); got != true {
		t.Errorf("published is %v after a change without it", got)
	}
}

// Invalid descriptions are refused with the field at fault.
func TestInvalidStations(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, row := range []struct{ name, station, body, field string }{
		{"bad name", "%20", roof, "id"},
		{"no name", "a", `{"latitude":28.6,"longitude":77.2,"kind":"sensor"}`, "name"},
		{"control character", "a", `{"name":"a\u0007","latitude":28.6,"longitude":77.2,"kind":"sensor"}`, "name"},
		{"long name", "a", `{"name":"` + strings.Repeat("ü", 101) + `","latitude":28.6,"longitude":77.2,"kind":"sensor"}`, "name"},
		{"no latitude", "a", `{"name":"a","longitude":77.2,"kind":"sensor"}`, "latitude"},
		{"no longitude", "a", `{"name":"a","latitude":28.6,"kind":"sensor"}`, "longitude"},
		{"outside India", "a", `{"name":"a","latitude":48.1,"longitude":11.6,"kind":"sensor"}`, "latitude"},
		{"unknown kind", "a", `{"name":"a","latitude":28.6,"longitude":77.2,"kind":"city_mean"}`, "kind"},
		{"published without licence", "a", `{"name":"a","latitude":28.6,"longitude":77.2,"kind":"sensor","published":true}`, "licence"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f.put(row.station, row.body).WantError(t, row.name, 400, schema.InvalidRequest, row.field)
		})
	}
	if n := f.count(t, "pushed_station"); n != 0 {
		t.Errorf("%d stations are registered, want 0", n)
	}
}

// Two accounts can use the same name, and neither can send readings of the other's station.
func TestAccountsAreSeparate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("roof-1", roof).Want(t, "register", 200)
	const reading = `{"station":"roof-1","parameter":"pm25","value":61.5,"unit":"ug/m3","at":"2026-11-20T08:30:00Z"}`
	reply := f.Do(f.other.Keys[schema.Live], "POST", "/v1/readings", `{"readings":[`+reading+`]}`).Want(t, "push of another account", 200)
	if got := reply.At("rejected_total"); got != 1.0 {
		t.Errorf("%v of the other account's readings are rejected, want 1", got)
	}
	reply = f.Do(f.account.Keys[schema.Sandbox], "POST", "/v1/readings", `{"readings":[`+reading+`]}`).Want(t, "push to the sandbox", 200)
	if got := reply.At("rejected_total"); got != 1.0 {
		t.Errorf("%v of the sandbox's readings are rejected, want 1", got)
	}
	if a, b := air.OwnStationID(f.account.ID, "x"), air.OwnStationID(f.other.ID, "x"); a == b {
		t.Errorf("both accounts have the id %q", a)
	}
}

// A repeated Idempotency-Key gets the stored reply, and another body a conflict.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("roof-1", roof).Want(t, "register", 200)
	const body = `{"readings":[{"station":"roof-1","parameter":"pm25","value":61.5,"unit":"ug/m3","at":"2026-11-20T08:30:00Z"}]}`
	first := f.post("application/json", body, "Idempotency-Key", "k").Want(t, "push", 200)
	loads := f.store.loads.Load()
	again := f.post("application/json", body, "Idempotency-Key", "k").Want(t, "repeated push", 200)
	if again.Text != first.Text {
		t.Errorf("the replayed reply is %s, want %s", again.Text, first.Text)
	}
	if got := again.Header.Get("Idempotent-Replayed"); got != "true" {
		t.Errorf("Idempotent-Replayed is %q", got)
	}
	if n := f.store.loads.Load(); n != loads {
		t.Errorf("the repeated push stored %d batches", n-loads)
	}
	f.post("application/json", strings.Replace(body, "61.5", "62", 1), "Idempotency-Key", "k").WantError(t, "another body", 409, schema.IdempotencyConflict, "Idempotency-Key")
}

// If the store fails, the client gets a retryable error, and its retry is stored once.
func TestStoreFailure(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("roof-1", roof).Want(t, "register", 200)
	const body = `{"readings":[{"station":"roof-1","parameter":"pm25","value":61.5,"unit":"ug/m3","at":"2026-11-20T08:30:00Z"}]}`
	f.store.fails.Store(true)
	reply := f.post("application/json", body, "Idempotency-Key", "k")
	reply.WantError(t, "push to a failing store", 503, schema.ServiceUnavailable, "")
	if got := reply.At("error.retryable"); got != true {
		t.Errorf("retryable is %v, want true", got)
	}
	f.store.fails.Store(false)
	for range 2 {
		f.post("application/json", body, "Idempotency-Key", "k").Want(t, "retry", 200)
	}
	if diff := cmp.Diff([]string{"roof-1 pm25 08:30 61.5 60 push"}, f.stored(t)); diff != "" {
		t.Errorf("stored readings (-want +got):\n%s", diff)
	}
}

// A stray quote and a line of the wrong width spoil only their own lines.
func TestBadLinesOfCSV(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("roof-1", roof).Want(t, "register", 200)
	const good = "roof-1,pm25,61.5,ug/m3,2026-11-20T08:30:00Z\n"
	body := "station,parameter,value,unit,at\n" + "\"roof-1,pm25,1,ug/m3,2026-11-20T07:30:00Z\n" + good + "roof-1,pm25\n" + "roof-1,pm25,x,ug/m3,2026-11-20T07:30:00Z\n" +
		strings.Repeat("x", 5000) + "\n"
	reply := f.post("text/csv", body).Want(t, "push", 200)
	if got := reply.At("accepted"); got != 1.0 {
		t.Errorf("accepted %v, want 1", got)
	}
	var got []string
	list, _ := reply.At("rejected").([]any)
	for _, one := range list {
		rejected, _ := one.(map[string]any)
		got = append(got, fmt.Sprint(rejected["index"], " ", rejected["reason"]))
	}
	if diff := cmp.Diff([]string{"0 bad_line", "2 bad_line", "3 bad_number", "4 bad_line"}, got); diff != "" {
		t.Errorf("rejected lines (-want +got):\n%s", diff)
	}
}

// A published station can move a little, and keeps its licence and attribution.
func TestPublishedStationMoves(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("gate", `{"name":"Gate","latitude":28.6315,"longitude":77.2167,"kind":"sensor","licence":"CC0","attribution":"City","published":true}`).Want(t, "register", 200)
	reply := f.put("gate", `{"name":"Gate","latitude":28.64,"longitude":77.2167,"kind":"sensor"}`).Want(t, "move", 200)
	if got := reply.TextAt("data.licence") + " " + reply.TextAt("data.attribution"); got != "CC0 City" {
		t.Errorf("licence and attribution are %q after a move", got)
	}
	f.put("gate", `{"name":"Gate","latitude":28.9,"longitude":77.2167,"kind":"sensor"}`).WantError(t, "a far move", 409, schema.Conflict, "latitude")
}

// Two instances share one database. The second sees registrations of the first, and a
// reading with a position does not replace a station that the other instance registered.
func TestTwoInstances(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.instance(t)
	const reading = `{"station":"%s","parameter":"pm25","value":61.5,"unit":"ug/m3","at":"2026-11-20T08:30:00Z","latitude":28.6,"longitude":77.2}`
	send := func(c accesstest.Client, name string) accesstest.Reply {
		return c.Do(f.account.Keys[schema.Live], "POST", "/v1/readings", `{"readings":[`+fmt.Sprintf(reading, name)+`]}`, "Content-Type", "application/json").Want(t, "push", 200)
	}
	send(other, "roof-1") // the other instance has the account in its cache now
	f.put("roof-2", `{"name":"Second roof","latitude":28.6315,"longitude":77.2167,"kind":"sensor","licence":"CC0","published":true}`).Want(t, "register", 200)
	send(other, "roof-2")
	var name string
	var published uint8
	row := f.conn.QueryRow(t.Context(), "SELECT name, published FROM "+f.live+".pushed_station FINAL WHERE station = 'roof-2'")
	if err := row.Scan(&name, &published); err != nil {
		t.Fatal(err)
	}
	if name != "Second roof" || published != 1 {
		t.Errorf("the station is %q, published %d", name, published)
	}
}

// The readings of one request do not fail because of the readings of another.
func TestRequestsShareInserts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("roof-1", roof).Want(t, "register", 200)
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			body := fmt.Sprintf(`{"station":"roof-1","parameter":"pm25","value":%d,"unit":"ug/m3","at":"2026-11-20T08:%02d:00Z","averaging_minutes":1}`, i+1, i)
			for {
				reply := f.post("application/x-ndjson", body)
				if reply.Status == 429 { // the account uses all its slots
					continue
				}
				if got := reply.At("accepted"); got != 1.0 {
					t.Errorf("accepted %v: %s", got, reply.Text)
				}
				return
			}
		})
	}
	all.Wait()
	if n := f.count(t, "reading"); n != 12 {
		t.Errorf("%d readings are stored, want 12", n)
	}
}
