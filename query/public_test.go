package query_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb/geojson"

	"vayu/query"
)

// open sends a request without a key.
func (w *fixture) open(t testing.TB, path string, headers ...string) (int, http.Header, string) {
	t.Helper()
	return w.do(t, http.MethodGet, path, headers...)
}

// publicPaths are paths of each form of reply.
func publicPaths() []string {
	return []string{
		"/public/v1/cities", "/public/v1/cities/Delhi", "/public/v1/cities/Delhi/badge.svg", "/public/v1/aqi?lat=28.64&lon=77.21",
		"/public/v1/cities/Delhi/chart.svg", "/public/v1/cities/Delhi/feed.atom", "/public/v1/cities/Delhi/alert.cap", "/public/v1/alerts.atom",
		"/public/v1/cities/Delhi/feed.rss?language=ta", "/public/v1/alerts.rss",
		"/public/v1/stations.geojson", "/public/v1/tiles/stations/4/11/6.mvt", "/public/v1/tiles/surface/6/45/26.png",
	}
}

func TestPublicPageOfACity(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.cityHour(t, w.live, "Delhi", "Delhi",
		figure{at: hour.Add(-23 * time.Hour), aqi: 90}, figure{at: hour.Add(-24 * time.Hour), aqi: 80}, figure{at: hour.Add(-2 * time.Hour), aqi: 301})
	status, _, body := w.open(t, "/public/v1/cities/delhi")
	var page struct {
		City    string
		Current struct {
			AQI      int
			Stations []struct{ ID string }
		}
		Advice map[string]struct{ Name, General string }
		Hours  []struct {
			Hour     time.Time
			AQI      int
			Category string
		}
		Links map[string]string
	}
	if err := json.Unmarshal([]byte(body), &page); err != nil || status != http.StatusOK {
		t.Fatalf("status %d, %v: %s", status, err, body)
	}
	if page.City != "Delhi" || page.Current.AQI != 266 || len(page.Current.Stations) != 2 {
		t.Errorf("got the page %+v", page)
	}
	if page.Advice["en"].Name != "Poor" || page.Advice["hi"].General == "" || page.Advice["hi"].Name == "Poor" || len(page.Advice) != 2 {
		t.Errorf("got the advice %v", page.Advice)
	}
	for query, want := range map[string]string{"ta": `"ta":{"category":"Poor","name":"மோசம்"`, "hi": `"hi":{"category":"Poor","name":"ख़राब"`} {
		if status, _, body := w.open(t, "/public/v1/cities/delhi?language="+query); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("language %s: status %d: %s", query, status, body)
		}
	}
	for query, nearest := range map[string]string{"ta-IN": "ta", "TA": "ta", "hi-IN": "hi", "fr": "en"} { // each form would be another entry of a cache
		if status, _, body := w.open(t, "/public/v1/cities/delhi?language="+query); status != http.StatusBadRequest ||
			!strings.Contains(body, `"field":"language"`) || !strings.Contains(body, "The nearest to yours is "+nearest+".") {
			t.Errorf("language %q: status %d: %s", query, status, body)
		}
	}
	var hours []string
	for _, h := range page.Hours {
		hours = append(hours, fmt.Sprintf("%s %d %s", hour.Sub(h.Hour), h.AQI, h.Category))
	}
	if diff := cmp.Diff([]string{"23h0m0s 90 Satisfactory", "2h0m0s 301 Very Poor", "0s 266 Poor"}, hours); diff != "" {
		t.Errorf("hours (-want +got):\n%s", diff)
	}
	for form, path := range page.Links {
		if status, _, body := w.open(t, path); status != http.StatusOK {
			t.Errorf("%s is %s: status %d: %s", form, path, status, body)
		}
	}
}

// A reply depends on its URL only. A cache would send it to everyone.
func TestPublicRepliesAreTheSameForEveryClient(t *testing.T) {
	t.Parallel()
	w := india(t)
	for _, path := range publicPaths() {
		t.Run(path, func(t *testing.T) {
			status, plain, body := w.open(t, path)
			if status != http.StatusOK {
				t.Fatalf("status %d: %s", status, body)
			}
			for _, headers := range [][]string{
				{"Authorization", "Bearer " + liveKey},
				{"Authorization", "Bearer " + sandboxKey},
				{"Authorization", "Bearer sk_live_unknown"},
				{"Cookie", "vayu_session=1"},
				{"Origin", "https://app.example"}, // an origin of the setting origins
				{"Origin", "https://elsewhere.example"},
				{"Accept-Language", "hi"},
			} {
				status, h, other := w.open(t, path, headers...)
				h, want := maps.Clone(h), maps.Clone(plain)
				for _, each := range []http.Header{h, want} {
					each.Del("Date")
					each.Del("X-Request-Id")
				}
				if diff := cmp.Diff(want, h); diff != "" || status != http.StatusOK || other != body {
					t.Errorf("%v: status %d, same body: %v, headers (-want +got):\n%s", headers, status, other == body, diff)
				}
			}
			for name, want := range map[string]string{
				"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin", "Set-Cookie": "",
				"Cache-Control": "public, max-age=1380, s-maxage=1380, stale-while-revalidate=300, stale-if-error=86400", // 09:12 to 09:35
				"Vary":          "",
			} {
				if len(body) >= 1024 && name == "Vary" && plain.Get("Content-Type") != "image/png" {
					want = "Accept-Encoding"
				}
				if got := plain.Get(name); got != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
		})
	}
}

// A cache revalidates a reply with its ETag, in the encoding that it has.
func TestPublicRepliesAreRevalidated(t *testing.T) {
	t.Parallel()
	w := india(t)
	for _, path := range publicPaths() {
		for _, encoding := range []string{"identity", "br", "gzip", "zstd"} {
			t.Run(path+" "+encoding, func(t *testing.T) {
				status, h, body := w.open(t, path, "Accept-Encoding", encoding)
				tag := h.Get("Etag")
				if status != http.StatusOK || tag == "" || strings.HasPrefix(tag, "W/") {
					t.Fatalf("status %d, ETag %q", status, tag)
				}
				status, same, empty := w.open(t, path, "Accept-Encoding", encoding, "If-None-Match", tag)
				if status != http.StatusNotModified || empty != "" {
					t.Errorf("with the ETag: status %d and %d bytes", status, len(empty))
				}
				head, headers, empty := w.do(t, http.MethodHead, path, "Accept-Encoding", encoding)
				if head != http.StatusOK || empty != "" {
					t.Errorf("HEAD: status %d and %d bytes", head, len(empty))
				}
				for _, name := range []string{"Etag", "Cache-Control", "Vary", "Access-Control-Allow-Origin"} {
					if got := same.Get(name); got != h.Get(name) {
						t.Errorf("304: the %s is %q, want %q", name, got, h.Get(name))
					}
					if got := headers.Get(name); got != h.Get(name) {
						t.Errorf("HEAD: the %s is %q, want %q", name, got, h.Get(name))
					}
				}
				if packed := h.Get("Content-Encoding"); encoding != "identity" && len(body) > 1024 && h.Get("Content-Type") != "image/png" && packed != encoding {
					t.Errorf("%d bytes have the encoding %q, want %q", len(body), packed, encoding)
				}
			})
		}
	}
}

// While the figures of the last hour are overdue, caches ask every five minutes.
func TestPublicRepliesExpireSoonWhileFiguresAreOverdue(t *testing.T) {
	t.Parallel()
	w := india(t)
	for at, want := range map[string]string{
		"2026-11-20T08:34:59Z": "max-age=1, ",
		"2026-11-20T08:35:00Z": "max-age=3600, ",
		"2026-11-20T09:34:59Z": "max-age=1, ",
		"2026-11-20T09:35:00Z": "max-age=300, ", // the figures of 09:30 are due
		"2026-11-20T10:34:00Z": "max-age=60, ",
	} {
		t.Run(at, func(t *testing.T) {
			when, err := time.Parse(time.RFC3339, at)
			if err != nil {
				t.Fatal(err)
			}
			w.serve(t, func(c *query.Config) { c.Now = func() time.Time { return when } })
			w.refresh(t)
			for _, path := range publicPaths() {
				if _, h, _ := w.open(t, path); !strings.Contains(h.Get("Cache-Control"), want) {
					t.Errorf("%s: got %q, want %s", path, h.Get("Cache-Control"), want)
				}
			}
		})
	}
}

func TestInvalidPublicRequests(t *testing.T) {
	t.Parallel()
	w := india(t)
	const short, never = "public, max-age=60, s-maxage=60", "no-store"
	for path, want := range map[string]struct {
		status      int
		field, text string
		cache       string
	}{
		"/public/v1/cities/Delhii":                         {404, "city", "Did you mean Delhi", short},
		"/public/v1/cities/Delhii/badge.svg":               {404, "city", "Did you mean Delhi", short},
		"/public/v1/cities/Aurangabad":                     {400, "city", "Aurangabad, Bihar", short},
		"/public/v1/cities/12":                             {400, "city", "at least one letter", short},
		"/public/v1/cities/" + strings.Repeat("a", 201):    {400, "city", "at most 200 characters", short},
		"/public/v1/cities/a%00b":                          {400, "city", "control character", short},
		"/public/v1/cities/a%FFb":                          {400, "city", "UTF-8", short},
		"/public/v1/cities/Delhi?x=1":                      {400, "x", "no parameter x", never},
		"/public/v1/aqi":                                   {400, "lat", "lat and lon, or pincode", short},
		"/public/v1/aqi?lat=28.64":                         {400, "lon", "requires lat and lon", short},
		"/public/v1/aqi?lat=28.641&lon=77.2":               {400, "lat", "at most 2 decimals", short},
		"/public/v1/aqi?lat=77.21&lon=28.64":               {400, "lat", "longitude in lat", short},
		"/public/v1/aqi?lat=91&lon=28.64":                  {400, "lat", "between -90 and 90", short},
		"/public/v1/aqi?lat=1e1&lon=28.64":                 {400, "lat", "decimal number", short},
		"/public/v1/aqi?lat=-45&lon=10":                    {404, "", "No station within 100 km", short},
		"/public/v1/aqi?pincode=11":                        {400, "pincode", "six digits", short},
		"/public/v1/aqi?pincode=110001&lat=1":              {400, "pincode", "either pincode", short},
		"/public/v1/tiles/rain/4/11/6.mvt":                 {400, "layer", "stations, cities or pins", short},
		"/public/v1/tiles/stations/4/1000000000/6.mvt":     {400, "x", "from 0 to 15", short},
		"/public/v1/tiles/stations/1000000000/0/0.mvt":     {400, "z", "from 0 to 12", short},
		"/public/v1/tiles/surface/6/45/26.png?parameter=x": {400, "parameter", "aqi and pm25", short},
		"/public/v1/cities/Delhi/badge.gif":                {404, "", "path does not exist", never},
		"/public/v1/stations":                              {404, "", "path does not exist", never},
		"/dashboard/public/v1/cities":                      {404, "", "path does not exist", never},
	} {
		t.Run(path, func(t *testing.T) {
			status, h, body := w.open(t, path)
			var reply struct {
				Error struct{ Field, Message, RequestID string }
			}
			if err := json.Unmarshal([]byte(body), &reply); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			if status != want.status || reply.Error.Field != want.field || !strings.Contains(reply.Error.Message, want.text) {
				t.Errorf("got %d, field %q: %s", status, reply.Error.Field, body)
			}
			if got := h.Get("Cache-Control"); got != want.cache {
				t.Errorf("Cache-Control %q, want %q", got, want.cache)
			}
		})
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		if status, h, body := w.do(t, method, "/public/v1/cities"); status != http.StatusMethodNotAllowed || h.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: status %d, Allow %q: %s", method, status, h.Get("Allow"), body)
		}
	}
	if status, h, _ := w.open(t, "/public/v1/cities", "Accept", "text/turtle"); status != http.StatusNotAcceptable || h.Get("Cache-Control") != never {
		t.Errorf("another type: status %d, %q, want an error that is not cached", status, h.Get("Cache-Control"))
	}
}

// Each address has a rate limit of its own. Its error is never cached, because a cache would send it to others.
func TestPublicRateLimit(t *testing.T) {
	t.Parallel()
	w := india(t)
	path := "/public/v1/cities/Pune/badge.svg"
	for i := range 1000 {
		if status, _, body := w.open(t, path); status != http.StatusOK {
			t.Fatalf("request %d: status %d: %s", i, status, body)
		}
	}
	status, h, body := w.open(t, path)
	if status != http.StatusTooManyRequests || h.Get("Retry-After") != "1" || h.Get("Cache-Control") != "no-store" || h.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("past the limit: status %d, headers %v: %s", status, h, body)
	}
	if status, _, body := w.get(t, "/v1/aqi?city=Pune"); status != http.StatusOK {
		t.Errorf("with a key: status %d: %s", status, body)
	}
}

func TestPublicEdgeIsOffByDefault(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.public = ""
	w.serve(t)
	w.refresh(t)
	for _, path := range publicPaths() {
		// The contract has these paths, so the reply is not compared with it.
		resp, err := http.Get(w.url + path) //nolint:noctx // the test ends the server
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusNotFound || !strings.Contains(string(body), "This path does not exist.") {
			t.Errorf("%s: status %d, %v: %s", path, resp.StatusCode, err, body)
		}
	}
}

func TestPublicWorldIsChosen(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.public = "sandbox"
	w.serve(t)
	w.refresh(t)
	_, _, body := w.open(t, "/public/v1/stations.geojson")
	all, err := geojson.UnmarshalFeatureCollection([]byte(body))
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if got := all.Features; len(got) != 1 || got[0].ID != "sim-delhi" {
		t.Errorf("got %d stations, want only sim-delhi: %s", len(got), body)
	}
}

func TestPublicStationsAreAllStations(t *testing.T) {
	t.Parallel()
	w := india(t)
	_, _, body := w.open(t, "/public/v1/stations.geojson")
	all, err := geojson.UnmarshalFeatureCollection([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, f := range all.Features {
		ids = append(ids, fmt.Sprint(f.ID))
		if f.ID == "cpcb-anand-vihar" && (f.Properties["aqi"] != 331.0 || f.Point().Lat() != 28.6469 || f.Properties["attribution"] != "CPCB") {
			t.Errorf("got the station %v", f)
		}
	}
	if len(ids) != 10 || !slices.IsSorted(ids) {
		t.Errorf("got the stations %v", ids)
	}
}

// While ClickHouse is down, the page of a city has its current air without the hours, and caches ask again after a minute.
func TestPublicPageWithoutClickHouse(t *testing.T) {
	t.Parallel()
	w := india(t)
	conn := &hangingConn{Conn: w.conn}
	w.serve(t, func(c *query.Config) { c.Conn, c.Snapshots = conn, w.conn })
	w.service.ExtendTimeouts(10 * time.Millisecond)
	w.refresh(t)
	conn.down.Store(true)
	for _, path := range []string{"/public/v1/cities/Delhi", "/public/v1/cities/Pune"} {
		status, h, body := w.open(t, path)
		var page struct {
			Current *struct{ AQI int }
			Hours   []struct{}
		}
		decode(t, body, &page)
		if status != http.StatusOK {
			t.Errorf("%s: status %d, want 200: %s", path, status, body)
		}
		if page.Current == nil || page.Hours != nil {
			t.Errorf("%s: current %v and hours %v, want only the first: %s", path, page.Current, page.Hours, body)
		}
		if got := h.Get("Cache-Control"); !strings.HasPrefix(got, "public, max-age=60, ") {
			t.Errorf("%s: Cache-Control %q", path, got)
		}
	}
	status, h, body := w.open(t, "/public/v1/cities/Delhi/chart.svg")
	if status != http.StatusServiceUnavailable || h.Get("Cache-Control") != "no-store" {
		t.Errorf("the chart: status %d, %q: %s", status, h.Get("Cache-Control"), body)
	}
	conn.down.Store(false)
}
