package kit

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vayu/ingest"
	"vayu/ingest/conformance"
	"vayu/ingest/source/described"
	"vayu/ingest/source/described/budget"
)

// failures returns the failed checks of a report as text.
func failures(r *Report) string {
	var all []string
	for _, row := range r.Checks {
		if row.Result == Fail {
			all = append(all, row.Check+": "+row.Reason)
		}
	}
	return strings.Join(all, "\n")
}

func TestShippedDescriptionsPass(t *testing.T) {
	t.Parallel()
	for _, f := range described.Shipped() {
		t.Run(f.Path, func(t *testing.T) {
			t.Parallel()
			r, err := CheckAt(t.Context(), f, filepath.Join(t.TempDir(), "none"))
			if err != nil {
				t.Fatal(err)
			}
			if got := failures(r); got != "" {
				t.Errorf("failed:\n%s", got)
			}
		})
	}
}

// TestLanguage runs the kit with each way to get pages.
func TestLanguage(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/language/*/source.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no description")
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Check(t.Context(), described.File{Path: name + ".yaml", Text: text}, filepath.Dir(file))
			if err != nil {
				t.Fatal(err)
			}
			if got := failures(r); got != "" {
				t.Errorf("failed:\n%s", got)
			}
		})
	}
}

// rows describes a network with two pages of hourly values.
const rows = `
about: rows of a test
licence: CC0
attribution: a test
local: true
auth: {header: {name: X-Key, value: "${ROWS_KEY}"}}
request: {url: "URL/rows", query: {from: "{from}"}}
pages: {by: page, parameter: page, total: total}
records: rows
station: {id: id}
time: {field: t, format: rfc3339}
readings:
  pm25: {value: v, unit: µg/m³}
`

// noon is the time of the recorded case.
var noon = time.Date(2026, 6, 9, 12, 0, 0, 0, time.UTC)

// reply has six values.
const reply = `{"total":6,"token":"a-secret-token","rows":[{"id":"a","t":"2026-06-09T09:00:00Z","v":7},{"id":"a","t":"2026-06-09T10:00:00Z","v":8},
{"id":"a","t":"2026-06-09T11:00:00Z","v":9},{"id":"b","t":"2026-06-09T10:00:00Z","v":1},{"id":"b","t":"2026-06-09T11:00:00Z","v":"2x"},
{"id":"c","t":"2026-06-09T11:00:00Z","v":3}]}`

// recordedFixture records a case of the description rows against a server that checks the key.
func recordedFixture(t *testing.T) (f described.File, folder string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "key-of-the-network" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("X-RateLimit-Remaining", "9")
		_, _ = w.Write([]byte(reply))
	}))
	t.Cleanup(server.Close)
	f = described.File{Path: filepath.Join(t.TempDir(), "rows.yaml"), Text: []byte(strings.Replace(rows, "URL", server.URL, 1))}
	folder = filepath.Join(t.TempDir(), "rows")
	recorded, err := Record(t.Context(), f, ingest.Window{From: noon.Add(-24 * time.Hour), To: noon}, filepath.Join(folder, "first"))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(recorded.Fetched.Readings); got != 5 {
		t.Fatalf("%d readings recorded, want 5", got)
	}
	return f, folder
}

func TestRecordedCase(t *testing.T) {
	t.Setenv("ROWS_KEY", "key-of-the-network")
	f, folder := recordedFixture(t)
	for name, want := range map[string]string{
		"case.json": `"bad_number": 1`, "readings.csv": "rows-a,pm25,2026-06-09T09:00:00Z,7,concentration,60,plain", "1.json": `"token":"secret-1"`,
		"rejected.csv": "5,bad_number,pm25", "stations.csv": `rows-c,"c"`,
	} {
		text, err := os.ReadFile(filepath.Join(folder, "first", name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q:\n%s", name, want, text)
		}
		if strings.Contains(string(text), "key-of-the-network") || strings.Contains(string(text), "a-secret-token") {
			t.Errorf("%s has a secret:\n%s", name, text)
		}
	}
	r, err := Check(t.Context(), f, folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Checks {
		if row.Result != Pass {
			t.Errorf("%s: %s, %s; want a pass", row.Check, row.Result, row.Reason)
		}
	}
	if _, err := Record(t.Context(), f, ingest.Window{}, filepath.Join(folder, "first")); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("error %v of a case that exists", err)
	}
}

// A refused fetch is a case whose expected result is the error.
func TestRecordedError(t *testing.T) {
	t.Setenv("ROWS_KEY", "key-that-is-wrong")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte("the key " + r.Header.Get("X-Key") + " is wrong"))
	}))
	t.Cleanup(server.Close)
	f := described.File{Path: "rows.yaml", Text: []byte(strings.Replace(rows, "URL", server.URL, 1))}
	folder := filepath.Join(t.TempDir(), "rows")
	recorded, err := Record(t.Context(), f, ingest.Window{}, filepath.Join(folder, "refused"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(recorded.Case.Error, "403") {
		t.Errorf("expected error %q, want one with 403", recorded.Case.Error)
	}
	r, err := Check(t.Context(), f, folder)
	if err != nil {
		t.Fatal(err)
	}
	if got := failures(r); !strings.HasPrefix(got, "conformance: no case that passes has readings") {
		t.Errorf("failed:\n%s\nwant only that no case has readings", got)
	}
}

func TestFaultsOfDescriptions(t *testing.T) {
	t.Setenv("ROWS_KEY", "key-of-the-network")
	f, folder := recordedFixture(t)
	for name, c := range map[string]struct{ old, with, want string }{
		"short overlap":   {"local: true", "local: true\noverlap: 30m", "late row: the overlap 30m0s is not longer"},
		"unknown licence": {"CC0", "unknown", "terms: the key licence is"},
		"other readings":  {"value: v", "value: x", "case first: result: error"},
	} {
		t.Run(name, func(t *testing.T) {
			other := f
			other.Text = []byte(strings.Replace(string(f.Text), c.old, c.with, 1))
			r, err := Check(t.Context(), other, folder)
			if err != nil {
				t.Fatal(err)
			}
			if got := failures(r); !strings.Contains(got, c.want) {
				t.Errorf("failed:\n%s\nwant %q", got, c.want)
			}
		})
	}
	if _, err := Check(t.Context(), f, filepath.Join(folder, "none")); err == nil || !strings.Contains(err.Error(), "vayu source record rows") {
		t.Errorf("without a case: error %v, want one with the command", err)
	}
}

// A case whose requests are not those of the description cannot be accepted. The error says what to do.
func TestAcceptOfOtherRequests(t *testing.T) {
	t.Setenv("ROWS_KEY", "key-of-the-network")
	f, folder := recordedFixture(t)
	f.Text = []byte(strings.Replace(string(f.Text), "/rows", "/devices", 1))
	err := Accept(t.Context(), io.Discard, f, folder)
	if want := "the case has other requests than the description: delete the folder " + filepath.Join(folder, "first") +
		", and record it again: vayu source record rows --case first"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

// badSource changes what a source yields and returns.
type badSource struct {
	ingest.Source
	calls *int
	fetch func(ctx context.Context, of ingest.Source, call int, w ingest.Window, yield func(*ingest.Batch) error) error
}

// Fetch implements [ingest.Source].
func (s *badSource) Fetch(ctx context.Context, w ingest.Window, yield func(*ingest.Batch) error) error {
	*s.calls++
	return s.fetch(ctx, s.Source, *s.calls, w, yield)
}

// TestFaultsOfSources checks that each check fails for a source with its fault.
func TestFaultsOfSources(t *testing.T) {
	t.Setenv("ROWS_KEY", "key-of-the-network")
	f, folder := recordedFixture(t)
	f.Env = anyKey
	d, err := described.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	type fetch = func(ctx context.Context, of ingest.Source, call int, w ingest.Window, yield func(*ingest.Batch) error) error
	swallow := func(ctx context.Context, of ingest.Source, _ int, w ingest.Window, yield func(*ingest.Batch) error) error {
		_ = of.Fetch(ctx, w, yield)
		return nil
	}
	for name, c := range map[string]struct {
		fetch fetch
		fails []string
	}{
		"errors are swallowed": {swallow, []string{"refused key", "repeated page", "cut body", "429 with Retry-After", "renamed field"}},
		"the key is quoted": {func(ctx context.Context, of ingest.Source, _ int, w ingest.Window, yield func(*ingest.Batch) error) error {
			if err := of.Fetch(ctx, w, yield); err != nil {
				return errors.New(err.Error() + conformance.Key)
			}
			return nil
		}, []string{"refused key"}},
		"the second fetch is empty": {func(ctx context.Context, of ingest.Source, call int, w ingest.Window, yield func(*ingest.Batch) error) error {
			if call > 1 {
				return nil
			}
			return of.Fetch(ctx, w, yield)
		}, []string{"shifted page", "cursor in the future", "late row", "same window twice"}},
		"the window is taken as it is": {func(ctx context.Context, of ingest.Source, _ int, w ingest.Window, yield func(*ingest.Batch) error) error {
			if w.From.After(w.To) {
				return nil
			}
			return of.Fetch(ctx, w, yield)
		}, []string{"cursor in the future"}},
		"an empty list is an error": {func(ctx context.Context, of ingest.Source, _ int, w ingest.Window, yield func(*ingest.Batch) error) error {
			batches := 0
			err := of.Fetch(ctx, w, func(b *ingest.Batch) error {
				batches++
				return yield(b)
			})
			if batches == 0 && err == nil {
				return errors.New("no batch")
			}
			return err
		}, []string{"empty page"}},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := newAPI(t.Context(), d, caseOf(t, folder))
			if err != nil {
				t.Fatal(err)
			}
			calls := 0
			paged := d.WithPageSize(a.size)
			b := &bench{d: paged, c: caseOf(t, folder), api: a, open: func(server string, sleep budget.Sleep) ingest.Source {
				return &badSource{paged.NewAgainst(server, caseOf(t, folder).Clock, sleep), &calls, c.fetch}
			}}
			var r Report
			if err := r.run(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.fails {
				if got := failures(&r); !strings.Contains(got, want+":") {
					t.Errorf("failed:\n%s\nwant %s", got, want)
				}
			}
		})
	}
}

func caseOf(t *testing.T, folder string) *conformance.Case {
	t.Helper()
	c, err := conformance.Load(filepath.Join(folder, "first"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
