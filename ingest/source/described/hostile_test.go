package described

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/ingest/sourcetest"
	"vayu/internal/testing/fixture"
)

const one = `{"rows":[{"id":"a","t":"2026-06-09T11:00:00Z","v":7}]}`

// TestPrivateAddressIsRefused checks that a description without local: true cannot
// reach an address of this machine.
func TestPrivateAddressIsRefused(t *testing.T) {
	t.Parallel()
	var called atomic.Bool
	server := network(t, func(http.ResponseWriter, *http.Request) { called.Store(true) })
	var clock fixture.Clock
	clock.Set(noon)
	text := strings.Replace(fmt.Sprintf(rows, strings.Replace(server, "http:", "https:", 1)), "local: true", "", 1)
	text = strings.Replace(text, "{part}", "all", 1)
	s := open(t, File{Path: "rows.yaml", Text: []byte(text), Env: anyKey}, clock.Now)
	err := s.Fetch(t.Context(), ingest.Window{}, drop)
	if err == nil || called.Load() || !strings.Contains(err.Error(), "prohibited") {
		t.Errorf("error %v, called %t, want a refused connection", err, called.Load())
	}
}

// TestSlowReplyEnds checks that a server which never completes its reply fails the
// call after request.timeout.
func TestSlowReplyEnds(t *testing.T) {
	t.Parallel()
	server := network(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, `{"rows":[`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	text := strings.Replace(fmt.Sprintf(rows, server), "request: {url:", "request: {timeout: 1s, url:", 1)
	s := open(t, File{Path: "rows.yaml", Text: []byte(strings.Replace(text, "{part}", "all", 1)), Env: anyKey}, time.Now)
	if err := s.Fetch(t.Context(), ingest.Window{}, drop); err == nil || !strings.Contains(err.Error(), "no complete reply in time") {
		t.Errorf("error %v, want one about the time", err)
	}
}

// TestKeysStayOutOfErrors checks errors of the connection, of a status and of the API.
func TestKeysStayOutOfErrors(t *testing.T) {
	t.Parallel()
	const key = "auth: {query: {name: token, value: \"${TOKEN}\"}, header: {name: X-Key, value: \"${TOKEN}\"}}\nerror-message: error\n"
	for name, answer := range map[string]http.HandlerFunc{
		"status":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) },
		"message": func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprintf(w, `{"error":%q}`, r.URL.String()) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.example/?"+r.URL.RawQuery, http.StatusFound)
		},
		"broken": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"path":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(fmt.Sprintf(rows, network(t, answer)), "{part}", "${TOKEN}", 1) + key
			s := open(t, File{Path: "rows.yaml", Text: []byte(text), Env: anyKey}, time.Now)
			err := s.Fetch(t.Context(), ingest.Window{}, drop)
			if err == nil || strings.Contains(err.Error(), sourcetest.Key) {
				t.Errorf("error %v, want one without the key", err)
			}
		})
	}
}

// TestWindows checks the range that requests ask for: also for the same window twice,
// and for one that begins in the future because a stored reading does.
func TestWindows(t *testing.T) {
	t.Parallel()
	var clock fixture.Clock
	clock.Set(noon)
	var requested []string
	server := network(t, func(w http.ResponseWriter, r *http.Request) {
		requested = append(requested, r.URL.Query().Get("from")+" "+r.URL.Query().Get("to"))
		_, _ = fmt.Fprint(w, one)
	})
	s := source(t, server, "partitions: {fixed: {part: [all]}}\noverlap: 6h\n", &clock)
	for name, c := range map[string]struct {
		window ingest.Window
		want   string
	}{
		"window":              {ingest.Window{From: noon.Add(-2 * time.Hour), To: noon}, "2026-06-09T10:00:00Z 2026-06-09T12:00:00Z"},
		"beginning in future": {ingest.Window{From: noon.Add(18 * time.Hour), To: noon}, "2026-06-09T06:00:00Z 2026-06-09T12:00:00Z"},
		"end in future":       {ingest.Window{From: noon.Add(-time.Hour), To: noon.Add(time.Hour)}, "2026-06-09T11:00:00Z 2026-06-09T12:00:00Z"},
		"none":                {ingest.Window{}, "2026-06-09T06:00:00Z 2026-06-09T12:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				requested = nil
				stored := 0
				err := s.Fetch(t.Context(), c.window, func(b *ingest.Batch) error {
					stored += b.Rows()
					return drop(b)
				})
				if err != nil || stored != 1 || len(requested) != 1 || requested[0] != c.want {
					t.Errorf("%v, %d readings, requested %q, want one reading and %q", err, stored, requested, c.want)
				}
			}
		})
	}
}

// TestPartitionsHaveResults checks that a failed partition stops no other, and that each partition gets its own window.
func TestPartitionsHaveResults(t *testing.T) {
	t.Parallel()
	var clock fixture.Clock
	clock.Set(noon)
	var requested []string
	server := network(t, func(w http.ResponseWriter, r *http.Request) {
		requested = append(requested, r.URL.Path+" "+r.URL.Query().Get("from"))
		if strings.HasSuffix(r.URL.Path, "/b") {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_, _ = fmt.Fprint(w, one)
	})
	s := divided{source(t, server, "partitions: {fixed: {part: [a, b, c]}}\n", &clock)}
	parts, err := s.Partitions(t.Context(), ingest.Window{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range parts {
		parts[i].Window = ingest.Window{From: noon.Add(-time.Duration(i+1) * time.Hour), To: noon}
	}
	var results []ingest.PartitionResult
	if err := s.FetchPartitions(t.Context(), parts, func(b *ingest.Batch) error {
		results = append(results, b.Partitions...)
		return drop(b)
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/rows/a 2026-06-09T11:00:00Z", "/rows/b 2026-06-09T10:00:00Z", "/rows/c 2026-06-09T09:00:00Z"}, requested); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]ingest.PartitionResult{{Key: "a", Until: noon}, {Key: "b", Until: noon, Failed: true}, {Key: "c", Until: noon}}, results); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// TestRenamedFieldCompletesNoPartition checks that partitions are fetched again after the description is mended.
func TestRenamedFieldCompletesNoPartition(t *testing.T) {
	t.Parallel()
	var clock fixture.Clock
	clock.Set(noon)
	server := network(t, func(w http.ResponseWriter, _ *http.Request) {
		clock.Advance(2 * time.Minute) // so that results are passed on after each partition
		_, _ = fmt.Fprint(w, strings.Replace(one, `"v"`, `"value"`, 1))
	})
	s := divided{source(t, server, "partitions: {fixed: {part: [a, b, c]}}\n", &clock)}
	parts, err := s.Partitions(t.Context(), ingest.Window{})
	if err != nil {
		t.Fatal(err)
	}
	err = s.FetchPartitions(t.Context(), parts, func(b *ingest.Batch) error {
		t.Errorf("results %+v of partitions whose readings were not mapped", b.Partitions)
		return drop(b)
	})
	if err == nil || !strings.Contains(err.Error(), `field "v"`) {
		t.Errorf("error %v, want one about the field v", err)
	}
}

// TestKeyOfPartition checks that the key has what the requests use, and not descriptive fields.
func TestKeyOfPartition(t *testing.T) {
	t.Parallel()
	var clock fixture.Clock
	clock.Set(noon)
	list := `[{"id":"a","name":"Station A"},{"id":"a","name":"A again"},{"id":"` + strings.Repeat("long", 100) + `"}]`
	server := network(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, list) })
	s := divided{source(t, server, "partitions: {request: {url: "+server+"/list}, records: '@this', fields: {name: name, part: id}}\n", &clock)}
	parts, err := s.Partitions(t.Context(), ingest.Window{})
	if err != nil || len(parts) != 2 {
		t.Fatalf("partitions %+v, error %v, want two", parts, err)
	}
	if parts[0].Key != "a" || len(parts[1].Key) != 64 {
		t.Errorf("keys %q and %q, want a and a hash", parts[0].Key, parts[1].Key)
	}
}

// TestAllPartitionsFail checks that a failure of the whole API is an error.
func TestAllPartitionsFail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ status, calls int }{
		"server error": {http.StatusInternalServerError, maxConsecutive}, "refused key": {http.StatusForbidden, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var clock fixture.Clock
			clock.Set(noon)
			calls := 0
			server := network(t, func(w http.ResponseWriter, _ *http.Request) {
				calls++
				w.WriteHeader(c.status)
			})
			s := source(t, server, "partitions: {fixed: {part: [a, b, c, d, e, f, g]}}\n", &clock)
			if err := s.Fetch(t.Context(), ingest.Window{}, drop); err == nil || calls != c.calls {
				t.Errorf("error %v after %d calls, want one after %d", err, calls, c.calls)
			}
		})
	}
}

// TestStoreErrorEndsFetch checks that partitions are not blamed for a store that is down.
func TestStoreErrorEndsFetch(t *testing.T) {
	t.Parallel()
	var clock fixture.Clock
	clock.Set(noon)
	server := network(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, one) })
	s := source(t, server, "partitions: {fixed: {part: [a, b]}}\n", &clock)
	down := errors.New("the store is down")
	err := s.Fetch(t.Context(), ingest.Window{}, func(b *ingest.Batch) error {
		b.Release()
		return down
	})
	if !errors.Is(err, down) {
		t.Errorf("error %v, want that of the store", err)
	}
}

// TestListIsRenamedLater checks that a fetch does not remember the fields that an earlier
// fetch has seen.
func TestListIsRenamedLater(t *testing.T) {
	t.Parallel()
	var clock fixture.Clock
	clock.Set(noon)
	field := "sensors"
	server := network(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/list" {
			_, _ = fmt.Fprintf(w, `{"all":[{%q:[{"id":"a"}]}]}`, field)
			return
		}
		_, _ = fmt.Fprint(w, one)
	})
	s := source(t, server, "partitions: {request: {url: "+server+"/list}, records: all, each: sensors, fields: {part: each.id}}\n", &clock)
	if err := s.Fetch(t.Context(), ingest.Window{}, drop); err != nil {
		t.Fatal(err)
	}
	field = "devices"
	if err := s.Fetch(t.Context(), ingest.Window{}, drop); err == nil || !strings.Contains(err.Error(), `field "sensors"`) {
		t.Errorf("error %v, want one about the field sensors", err)
	}
}
