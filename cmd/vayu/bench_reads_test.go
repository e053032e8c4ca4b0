package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkMixedReads measures b.N reads of apps at 5,000 a second against the real program, beside 100 pushed readings
// a second with their roll-ups, and beside an account that exports all readings, one export after the other. Then it
// measures the floor: the same client, rate and sizes of replies against a bare mux in a process of its own, beside the
// same pushes and exports. It prints latencies by kind of read, and the processor time of each process. It needs
// bin/vayu (make build).
func BenchmarkMixedReads(b *testing.B) {
	if b.N == 1 {
		return // the testing package first runs once, which has no p99
	}
	program, err := filepath.Abs(filepath.Join("..", "..", "bin", "vayu"))
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		b.Skipf("run make build first: %v", err)
	}
	s := serveFor(b, program, "--public", "sandbox", "--internal-listen", cmp.Or(os.Getenv("VAYU_BENCH_INTERNAL"), "off"))
	s.settle(b)
	s.request(b, http.MethodPut, "/v1/stations/roof", `{"name": "Roof", "latitude": 28.6315, "longitude": 77.2167, "kind": "sensor"}`)
	reads := s.reads(b)
	mux := startMux(b)

	ctx, cancel := context.WithCancel(b.Context())
	var beside sync.WaitGroup
	var pushed, exports, exported atomic.Int64
	beside.Go(func() { s.push(ctx, b, &pushed) })
	beside.Go(func() { s.export(ctx, &exports, &exported) })
	defer beside.Wait()
	defer cancel()

	b.ResetTimer()
	for _, one := range []struct{ name, address string }{{"", strings.TrimPrefix(s.address, "http://")}, {"floor-", mux.address}} {
		pushed.Store(0)
		exports.Store(0)
		exported.Store(0)
		before := processorSeconds(b, s.pid, mux.pid)
		m := measureReads(b, one.address, reads, b.N, one.name != "")
		after := processorSeconds(b, s.pid, mux.pid)
		seconds := m.elapsed.Seconds()
		b.ReportMetric(float64(b.N)/seconds, one.name+"requests/s")
		for name, share := range map[string]float64{"p50-ms": 0.5, "p95-ms": 0.95, "p99-ms": 0.99} {
			b.ReportMetric(m.all.quantile(share), one.name+name)
		}
		fmt.Printf("%s%d reads in %.1f s, %d not modified, %d refused; beside them %d pushed readings, %d whole exports and %.1f MB of exports\n",
			one.name, b.N, seconds, m.notModified.Load(), m.refused.Load(), pushed.Load(), exports.Load(), float64(exported.Load())/1e6)
		for _, of := range []string{"service", "engine", "client", "mux"} {
			fmt.Printf("%sprocessor time of %s: %.2f s, %.0f µs per read\n", one.name, of, after[of]-before[of], (after[of]-before[of])/float64(b.N)*1e6)
		}
		for _, kind := range m.kinds() {
			all := m.byKind[kind]
			fmt.Printf("%s%-28s %7d  p50 %8.2f  p95 %8.2f  p99 %8.2f ms\n", one.name, kind, len(*all), all.quantile(0.5), all.quantile(0.95), all.quantile(0.99))
		}
	}
	b.StopTimer()
	b.ReportMetric(0, "ns/op")
}

// mixedCycle is the number of reads that the client repeats.
const mixedCycle = 1_000

// read is one request. The client sends its bytes.
type read struct {
	kind  string
	bytes []byte
	// floor are the bytes for the bare mux. It answers with as many bytes as the service.
	floor []byte
}

// kind is a kind of reads: its share of all in percent, and the paths of it. n numbers the reads of the kind.
type kind struct {
	name  string
	share int
	path  func(n int) string
}

// reads returns the cycle of reads, in which the kinds are mixed. It requests each once, so that the measurement is
// that of a service that runs for some time.
func (s *service) reads(b *testing.B) []read {
	b.Helper()
	air := s.air(b)
	city := func(n int) *place { return &air.cities[n%len(air.cities)] }
	station := func(n int) *place { return &air.stations[n*7%len(air.stations)] }
	box := func(n int) string {
		c := city(n)
		return fmt.Sprintf("%.1f,%.1f,%.1f,%.1f", c.Longitude-1, c.Latitude-1, c.Longitude+1, c.Latitude+1)
	}
	pins := []string{"110001", "411004", "400001", "700001", "600001", "560001", "500001", "380001"}
	now := time.Now().UTC()
	kinds := []kind{
		{"aqi of a city", 25, func(n int) string { return "/v1/aqi?city=" + city(n).query() }},
		{"aqi of a city, detail", 5, func(n int) string { return "/v1/aqi?view=detail&city=" + city(n).query() }},
		{"aqi of a city, US scale", 3, func(n int) string { return "/v1/aqi?scale=us&city=" + city(n).query() }},
		{"aqi of a pin code", 8, func(n int) string { return "/v1/aqi?pincode=" + pins[n%len(pins)] }},
		{"aqi of a position", 12, func(n int) string {
			st := station(n)
			return fmt.Sprintf("/v1/aqi?lat=%.3f&lon=%.3f", st.Latitude+float64(n%9-4)/100, st.Longitude)
		}},
		{"aqi of a station", 6, func(n int) string { return "/v1/aqi?station=" + url.QueryEscape(station(n).ID) }},
		{"aqi of five cities", 3, func(n int) string {
			return "/v1/aqi?cities=" + strings.Join([]string{city(n).query(), city(n + 1).query(), city(n + 2).query(), city(n + 3).query(), city(n + 4).query()}, ",")
		}},
		{"aqi of a box", 2, func(n int) string { return "/v1/aqi?bbox=" + box(n) }},
		{"cities in a box", 3, func(n int) string { return "/v1/cities?bbox=" + box(n) }},
		{"stations in a box", 2, func(n int) string { return "/v1/stations?bbox=" + box(n) }},
		{"stations near", 3, func(n int) string {
			return fmt.Sprintf("/v1/stations?limit=5&near=%.2f,%.2f", city(n).Latitude, city(n).Longitude)
		}},
		{"places", 5, func(n int) string {
			name := []rune(city(n).Name)
			return "/v1/places?q=" + url.QueryEscape(string(name[:min(len(name), 3+n%4)]))
		}},
		{"rankings", 3, func(n int) string { return fmt.Sprintf("/v1/rankings?limit=%d", 10+n%3*10) }},
		{"forecast", 3, func(n int) string { return "/v1/forecast?city=" + city(n%10).query() }},
		{"vector tile", 4, func(n int) string {
			return fmt.Sprintf("/v1/tiles/%s/6/%d/%d.mvt", []string{"stations", "cities"}[n%2], 44+n%4, 26+n%3)
		}},
		{"surface tile", 2, func(n int) string { return fmt.Sprintf("/v1/tiles/surface/6/%d/%d.png", 44+n%4, 26+n%3) }},
		{"public city", 4, func(n int) string { return "/public/v1/cities/" + url.PathEscape(city(n).Name) }},
		{"public badge", 1, func(n int) string { return "/public/v1/cities/" + url.PathEscape(city(n).Name) + "/badge.svg" }},
		{"public stations", 1, func(int) string { return "/public/v1/stations.geojson" }},
		{"public city, If-None-Match", 4, func(n int) string { return "/public/v1/cities/" + url.PathEscape(city(n).Name) }},
		{"history of a week", 1, func(n int) string {
			return "/v1/aqi?city=" + city(n).query() + "&from=" + now.AddDate(0, 0, -8).Format(time.DateOnly) + "&to=" + now.AddDate(0, 0, -2).Format(time.DateOnly)
		}},
	}
	var slots []int // one for each percent, spread by a step that is prime to 100
	for i, k := range kinds {
		slots = append(slots, slices.Repeat([]int{i}, k.share)...)
	}
	if len(slots) != 100 {
		b.Fatalf("the shares are %d percent, want 100", len(slots))
	}
	sent := make([]int, len(kinds))
	reads := make([]read, mixedCycle)
	for i := range reads {
		k := slots[i*37%100]
		reads[i] = s.prepare(b, kinds[k].name, kinds[k].path(sent[k]))
		sent[k]++
	}
	return reads
}

// settle waits until the sandbox has its 60 days of history and forecasts, which takes some ten minutes in a new data
// directory. The service has then only the work of a normal hour.
func (s *service) settle(b *testing.B) {
	b.Helper()
	month := time.Now().UTC().AddDate(0, 0, -58).Format(time.DateOnly)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for s.send(b, http.MethodGet, "/v1/aqi?city=Delhi&date="+month, "") != http.StatusOK || s.send(b, http.MethodGet, "/v1/forecast?city=Delhi", "") != http.StatusOK {
		<-tick.C
	}
}

// prepare requests a path once, and returns the read of it. A client of phones and browsers accepts gzip.
func (s *service) prepare(b *testing.B, kind, path string) read {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, s.address+path, nil)
	if err != nil {
		b.Fatal(err)
	}
	head := "GET " + r.URL.RequestURI() + " HTTP/1.1\r\nHost: " + r.URL.Host + "\r\nAccept-Encoding: gzip\r\n"
	r.Header.Set("Accept-Encoding", "gzip")
	if strings.HasPrefix(path, "/v1/") {
		r.Header.Set("Authorization", "Bearer "+s.key)
		head += "Authorization: Bearer " + s.key + "\r\n"
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer reply.Body.Close()
	size, err := io.Copy(io.Discard, reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		b.Fatalf("GET %s: got %s and the error %v", path, reply.Status, err)
	}
	if strings.HasSuffix(kind, "If-None-Match") {
		head += "If-None-Match: " + reply.Header.Get("ETag") + "\r\n"
		size = 0
	}
	return read{kind, []byte(head + "\r\n"), fmt.Appendf(nil, "%s%s: %d\r\n\r\n", head, sizeHeader, size)}
}

// place is a city or a station.
type place struct {
	ID, Name            string
	Latitude, Longitude float64
}

func (p *place) query() string { return url.QueryEscape(p.Name) }

type places struct{ cities, stations []place }

// air returns the cities and stations of the sandbox.
func (s *service) air(b *testing.B) (all places) {
	b.Helper()
	for path, to := range map[string]*[]place{"/v1/cities?limit=1000": &all.cities, "/v1/stations?limit=1000": &all.stations} {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, s.address+path, nil)
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.key)
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		var list struct{ Data []place }
		err = json.NewDecoder(reply.Body).Decode(&list)
		_ = reply.Body.Close()
		if err != nil || len(list.Data) == 0 {
			b.Fatalf("GET %s: got %d places and the error %v", path, len(list.Data), err)
		}
		*to = slices.DeleteFunc(list.Data, func(p place) bool { return p.ID == "roof" })
	}
	return all
}

// push sends a hundred readings of the last hours each second until ctx ends.
func (s *service) push(ctx context.Context, b *testing.B, pushed *atomic.Int64) {
	b.Helper()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for i := 0; ; i++ {
		var lines strings.Builder
		for k := range 100 {
			at := time.Now().UTC().Truncate(time.Hour).Add(-time.Duration(k) * time.Hour).Format(time.RFC3339)
			fmt.Fprintf(&lines, `{"station": "roof", "parameter": "pm25", "value": %d, "unit": "ug/m3", "at": %q}`+"\n", 20+(i+k)%80, at)
		}
		if status, _ := s.stream(ctx, http.MethodPost, "/v1/readings", lines.String(), io.Discard); status == http.StatusOK || status == http.StatusAccepted {
			pushed.Add(100)
		} else if ctx.Err() == nil {
			b.Errorf("POST /v1/readings: got %d", status)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// export exports all readings of the sandbox, one export after the other, until ctx ends.
func (s *service) export(ctx context.Context, exports, exported *atomic.Int64) {
	for ctx.Err() == nil {
		if status, err := s.stream(ctx, http.MethodGet, "/v1/export/reading?format=csv", "", countWriter{exported}); status == http.StatusOK && err == nil {
			exports.Add(1)
		}
	}
}

// countWriter counts bytes.
type countWriter struct{ n *atomic.Int64 }

// Write implements io.Writer.
func (w countWriter) Write(p []byte) (int, error) {
	w.n.Add(int64(len(p)))
	return len(p), nil
}

// stream sends a request and copies the reply. The status is 0 if there is no reply.
func (s *service) stream(ctx context.Context, method, path, body string, to io.Writer) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, method, s.address+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	if body != "" {
		r.Header.Set("Content-Type", "application/x-ndjson")
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer reply.Body.Close()
	_, err = io.Copy(to, reply.Body)
	return reply.StatusCode, err
}

// bareMux is a process that only serves replies of a requested size.
type bareMux struct {
	address string
	pid     int
}

const (
	// muxVariable makes TestBareMux serve.
	muxVariable = "VAYU_BARE_MUX"
	// sizeHeader requests a size from the bare mux.
	sizeHeader = "X-Size"
)

// TestBareMux serves the bare mux of a benchmark until its standard input ends.
func TestBareMux(t *testing.T) {
	if os.Getenv(muxVariable) == "" {
		t.Skip("it is the child process of BenchmarkMixedReads")
	}
	body := make([]byte, 1<<20)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.Header.Get(sizeHeader))
		size = min(size, len(body))
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(size))
		_, _ = w.Write(body[:size])
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	fmt.Println(listener.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = server.Close()
}

// startMux starts this test binary again as the bare mux.
func startMux(b *testing.B) bareMux {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestBareMux$") //nolint:noctx // this program, which ends with its standard input
	cmd.Env = append(os.Environ(), muxVariable+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return bareMux{strings.TrimSpace(line), cmd.Process.Pid}
}
