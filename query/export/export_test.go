package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/query/dataset"
	"vayu/query/export"
	"vayu/schema"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

const (
	liveKey    = "sk_live_for_tests_only"
	sandboxKey = "sk_test_for_tests_only"
)

// now is two days after the readings of the fixture were stored.
var now = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// fixture serves exports of a database, whose rows were stored two days ago.
type fixture struct {
	conn     dataset.Conn
	database string
	server   *httptest.Server
	url      string
	exec     func(query string)
	calls    *counted
}

// counted records how many calls of the quota each request counted as.
type counted struct {
	httpapitest.Keys

	mu  sync.Mutex
	all []int64
}

func (k *counted) Admit(c *httpapi.Call, r *httpapi.Route) (httpapi.Pass, error) {
	p, err := k.Keys.Admit(c, r)
	return counting{p, k}, err
}

type counting struct {
	httpapi.Pass
	k *counted
}

func (p counting) End(c *httpapi.Call, status int) {
	p.k.mu.Lock()
	p.k.all = append(p.k.all, c.Count)
	p.k.mu.Unlock()
	p.Pass.End(c, status)
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	db := columnstoretest.New(t)
	w := &fixture{conn: db.Conn(), database: columnstoretest.Migrated(t, db), calls: &counted{Keys: httpapitest.Keys{liveKey, sandboxKey}}}
	w.exec = func(query string) {
		t.Helper()
		if err := db.Conn().Exec(t.Context(), strings.ReplaceAll(query, "air.", w.database+".")); err != nil {
			t.Fatal(err)
		}
	}
	w.exec(`INSERT INTO air.station (id, source, name, city, state, latitude, longitude, kind, attribution, licence, first_seen, last_seen)
		SELECT 's' || toString(number), 'made', 'S', if(number = 0, 'Delhi', 'Pune'), if(number = 0, 'Delhi', 'Maharashtra'), 20, 78, 'reference', if(number = 0, 'CPCB', 'Città, MPCB'), 'open', 0, 1000 FROM numbers(5)`)
	w.exec(`INSERT INTO air.reading (station, parameter, at, value, kind, averaging, flag, source, ingested_at)
		SELECT 's' || toString(number % 5), 'pm25', toDateTime('2026-10-01 00:00:00', 'UTC') + 60 * intDiv(number, 5), cityHash64(number) % 100, 'concentration', 1, 'plain', 'made', '2026-11-18 00:00:00' FROM numbers(300000)`)
	w.serve(t)
	return w
}

func (w *fixture) serve(t *testing.T) {
	t.Helper()
	s := export.New(export.Config{Conn: w.conn, Database: func(schema.World) string { return w.database }, Now: func() time.Time { return now }})
	h, err := httpapi.New(httpapi.Config{Routes: s.Routes(), Access: w.calls, Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	w.server = httptest.NewServer(h)
	t.Cleanup(w.server.Close)
	w.url = w.server.URL
}

// ended closes the server, which waits for the end of every request, and returns the calls that each counted as, the
// fewest first: a client can have a reply before its request has ended.
func (w *fixture) ended() []int64 {
	w.server.Close()
	w.calls.mu.Lock()
	defer w.calls.mu.Unlock()
	return slices.Sorted(slices.Values(w.calls.all))
}

func (w *fixture) get(t *testing.T, path string, headers ...string) (int, http.Header, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/v1/export/"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+liveKey)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := httpapitest.Transport(t, &http.Transport{DisableCompression: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, body
}

func TestFilesCanBeContinued(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, format := range dataset.FormatNames() {
		// Several records are full, except in JSON lines: the contract is checked for each line.
		path, rows := "reading?format="+format, "300000"
		if format == "ndjson" {
			path, rows = path+"&station=s1&to=2026-10-01", "1111"
		}
		status, header, whole := w.get(t, path)
		if status != http.StatusOK || header.Get("X-SERVICE-Rows") != rows {
			t.Fatalf("%s: status %d with %s rows: %.200s", format, status, header.Get("X-SERVICE-Rows"), whole)
		}
		for name, condition := range map[string][]string{"If-Range": {"If-Range", header.Get("ETag")}, "If-Match": {"If-Match", header.Get("ETag")}, "nothing": nil} {
			offset := map[string]int{"If-Range": 1, "If-Match": len(whole) / 3, "nothing": len(whole) - 1}[name]
			status, part, rest := w.get(t, path, append([]string{"Range", fmt.Sprintf("bytes=%d-", offset)}, condition...)...)
			if want := fmt.Sprintf("bytes %d-%d/%d", offset, len(whole)-1, len(whole)); status != http.StatusPartialContent || part.Get("Content-Range") != want {
				t.Fatalf("%s, %s: status %d, Content-Range %q, want 206 and %q: %.300s", format, name, status, part.Get("Content-Range"), want, rest)
			}
			if !bytes.Equal(append(bytes.Clone(whole[:offset]), rest...), whole) {
				t.Errorf("%s from byte %d with %s: the joined file differs from the whole one", format, offset, name)
			}
		}
		status, part, middle := w.get(t, path, "Range", "bytes=10-1009")
		if length := part.Get("Content-Length"); status != http.StatusPartialContent || length != "1000" {
			t.Errorf("%s: a range in the middle has status %d and Content-Length %s, want 206 and 1000", format, status, length)
		}
		if !bytes.Equal(middle, whole[10:1010]) {
			t.Errorf("%s: a range in the middle has other bytes than the whole file: %d bytes %q", format, len(middle), middle)
		}
		if status, _, tail := w.get(t, path, "Range", "bytes=-8"); status != http.StatusPartialContent || !bytes.Equal(tail, whole[len(whole)-8:]) {
			t.Errorf("%s: the last 8 bytes have status %d and are %q", format, status, tail)
		}
		if status, part, _ := w.get(t, path, "Range", fmt.Sprintf("bytes=%d-", len(whole))); status != 416 || part.Get("Content-Range") != fmt.Sprintf("bytes */%d", len(whole)) {
			t.Errorf("%s: behind the end status %d, Content-Range %q", format, status, part.Get("Content-Range"))
		}
		if status, _, _ := w.get(t, path, "If-None-Match", header.Get("ETag")); status != http.StatusNotModified {
			t.Errorf("%s: status %d with the present ETag, want 304", format, status)
		}
	}
}

func TestVersionsDoNotMix(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	const path = "reading?format=csv&station=s1"
	_, header, whole := w.get(t, path)
	w.exec("INSERT INTO air.reading SELECT * REPLACE (value + 1 AS value, toDateTime64('2026-11-20 08:00:00', 3, 'UTC') AS ingested_at) FROM air.reading WHERE station = 's1' LIMIT 1")
	if status, _, body := w.get(t, path, "Range", "bytes=100-"); status != http.StatusPreconditionFailed {
		t.Errorf("status %d of a file that has changed, want 412: %.200s", status, body)
	}
	if status, _, body := w.get(t, path, "Range", "bytes=100-", "If-Match", "*"); status != http.StatusPreconditionFailed {
		t.Errorf("status %d with If-Match: * of a changed file, want 412: %.200s", status, body)
	}
	if status, _, body := w.get(t, path, "Range", "bytes=100-", "If-Match", header.Get("ETag")); status != http.StatusPreconditionFailed {
		t.Errorf("status %d with If-Match of a changed file, want 412: %.200s", status, body)
	}
	if status, _, body := w.get(t, path, "Range", "bytes=100-", "If-Range", header.Get("ETag")); status != http.StatusOK || len(body) < len(whole) {
		t.Errorf("status %d with %d bytes with If-Range of a changed file, want 200 and the whole file", status, len(body))
	}
}

// TestChangeWhileContinuing checks that no byte is sent if the data change while the beginning is made again.
func TestChangeWhileContinuing(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	r, err := export.Resolve(t.Context(), w.conn, w.database, export.Query{Table: "reading", Format: "csv", Today: schema.DayOf(now)})
	if err != nil {
		t.Fatal(err)
	}
	e, err := export.Open(t.Context(), w.conn, w.database, r)
	if err != nil {
		t.Fatal(err)
	}
	w.exec("INSERT INTO air.reading SELECT * REPLACE (value + 1 AS value, now64(3) AS ingested_at) FROM air.reading LIMIT 1")
	var out bytes.Buffer
	if _, err := e.Write(t.Context(), &out, 5_000_000); err != export.ErrChanged || out.Len() > 0 { //nolint:errorlint // returned as it is
		t.Errorf("error %v and %d bytes, want %v and none", err, out.Len(), export.ErrChanged)
	}
}

func TestExportsCountByRows(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.get(t, "reading")
	w.get(t, "reading", "Range", "bytes=10-")
	w.get(t, "station?format=csv")
	w.get(t, "station?format=cvs")
	if diff := cmp.Diff([]int64{1, 1, 30, 30}, w.ended()); diff != "" {
		t.Errorf("counted calls (-want +got):\n%s", diff)
	}
}

func TestHeadersNameLicences(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	_, header, _ := w.get(t, "reading?format=csv")
	for name, want := range map[string]string{
		"X-SERVICE-Licence": "open", "X-SERVICE-Attribution": "CPCB; Citt%C3%A0, MPCB", "Last-Modified": "Wed, 18 Nov 2026 00:00:00 GMT",
		"Content-Disposition": `attachment; filename="reading.csv"`, "Accept-Ranges": "bytes", "Cache-Control": "private, max-age=0",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestWrongNamesGetSuggestions(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for path, want := range map[string]string{
		"readings":                                  "404 not_found table reading",
		"attempt":                                   "404 not_found table ",
		"openair?station=s1":                        "404 not_found table station_parameter_hour",
		"pushed_station":                            "404 not_found table ",
		"reading?format=xlsx":                       "400 invalid_request format ",
		"reading?format=cvs":                        "400 invalid_request format csv",
		"reading?parameters=pm2":                    "400 invalid_request parameters pm25",
		"city_day?parameters=pm25,humdity":          "400 invalid_request parameters ",
		"reading?parameters=pm25,temprature":        "400 invalid_request parameters temperature",
		"bulletin?parameters=pm25":                  "400 invalid_request parameters ",
		"reading?city=Deli":                         "404 location_not_found city Delhi",
		"reading?state=Maharastra":                  "404 location_not_found state Maharashtra",
		"reading?station=s11":                       "404 not_found station s1",
		"city_day?station=s1":                       "400 invalid_request station ",
		"parameter?city=Delhi":                      "400 invalid_request city ",
		"reading?city=Delhi&state=Delhi":            "400 conflicting_parameters state ",
		"reading?from=2026-11-31":                   "400 invalid_request from ",
		"reading?from=2026-11-03&to=2026-11-02":     "400 invalid_request from ",
		"reading?to=2026-11-21":                     "400 invalid_request to ",
		"station?from=2026-11-01":                   "400 invalid_request from ",
		"reading?colums=value":                      "400 invalid_request colums ",
		"reading?city=Delhi&city=Pune":              "400 invalid_request city ",
		"daily":                                     "400 invalid_request parameters ",
		"ranking?parameters=pm25,pm10":              "400 invalid_request parameters ",
		"reading?station=s1'%20OR%201%20=%201--%20": "404 not_found station ",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			status, _, body := w.get(t, path)
			var reply schema.ProblemBody
			if err := json.Unmarshal(body, &reply); err != nil {
				t.Fatalf("status %d: %v: %.200s", status, err, body)
			}
			first := ""
			if len(reply.Error.Suggestions) > 0 {
				first = reply.Error.Suggestions[0]
			}
			field := reply.Error.Field
			if field == "" && len(reply.Error.Details) > 0 {
				field = reply.Error.Details[0].Field
			}
			if got := fmt.Sprint(status, " ", reply.Error.Code, " ", field, " ", first); got != want {
				t.Errorf("%s, want %s: %s", got, want, reply.Message)
			}
		})
	}
}

// TestViewsNeedAScope exports views of one place or one parameter. A station is found under any of its ids.
func TestViewsNeedAScope(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.exec(`INSERT INTO air.station_parameter_day (station, parameter, day, mean, count, expected, flag)
		SELECT 's1', 'pm25', toDate('2026-11-01') + number, 40, 24, 24, 'good' FROM numbers(3)`)
	w.exec(`INSERT INTO air.station (id, source, name, city, state, same_as, attribution, first_seen, last_seen)
		SELECT 'second-s1', 'b', name, city, state, id, 'Second network', first_seen, last_seen FROM air.station FINAL WHERE id = 's1'`)
	for path, want := range map[string]int{
		"standard": 8, "daily?station=s1": 3, "daily?station=second-s1": 3, "daily?parameters=pm25": 3, "daily?city=Pune&parameters=pm25,pm10": 3,
	} {
		t.Run(path, func(t *testing.T) {
			// The subtests are in turn, because one view is computed at a time.
			status, header, body := w.get(t, path+map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")]+"format=ndjson")
			if status != http.StatusOK {
				t.Fatalf("status %d: %.300s", status, body)
			}
			if got := bytes.Count(body, []byte("\n")); got < want {
				t.Errorf("got %d rows, want %d", got, want)
			}
			if got := header.Get("X-Service-Attribution"); path != "standard" && !strings.Contains(got, "Second network") {
				t.Errorf("attribution %q lacks the second network", got)
			}
		})
	}
}

// TestFirstByteComesBeforeTheEnd cancels an export after its first bytes. The query ends, and the slot becomes free.
func TestFirstByteComesBeforeTheEnd(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for range 3 { // more than the slots of an account
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/v1/export/reading?format=ndjson", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+liveKey)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, 1000)); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("status %d, error %v", resp.StatusCode, err)
		}
		cancel()
		_ = resp.Body.Close()
		for { // until the handler has noticed
			if status, _, _ := w.get(t, "station"); status == http.StatusOK {
				break
			}
		}
	}
}

func TestAccountsHaveTwoExportsInFlight(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for range 2 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/v1/export/reading?format=ndjson", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+liveKey)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() }) // nothing is read meanwhile
	}
	status, header, body := w.get(t, "station")
	if status != http.StatusTooManyRequests {
		t.Errorf("status %d of the third export, want 429: %.200s", status, body)
	}
	if header.Get("Retry-After") == "" {
		t.Errorf("the third export has no Retry-After: %v", header)
	}
	if status, _, _ := w.get(t, "station", "Authorization", "Bearer "+sandboxKey); status != http.StatusOK {
		t.Errorf("status %d for another account, want 200", status)
	}
}
