package httpapi_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/mux"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// limited is an Access that reports every limit, like a real one.
type limited struct{}

func (limited) Admit(c *httpapi.Call, _ *httpapi.Route) (httpapi.Pass, error) {
	if _, err := httpapi.BearerKey(c.Request); err != nil {
		return nil, err
	}
	c.Principal = httpapi.Principal{World: schema.Live, Account: "acc_1", Key: "key_1"}
	return limited{}, nil
}

func (limited) Verify(*httpapi.Call) error { return nil }

func (limited) Reserve(*httpapi.Call, int64) error { return nil }

func (limited) End(c *httpapi.Call, _ int) {
	c.Limits = httpapi.Limits{
		Rate:  httpapi.Rate{PerSecond: 50, Burst: 100, Remaining: 73, Reset: 1},
		Quota: httpapi.Quota{Limit: 100_000, Used: 61_234, Reset: 1_796_083_200},
	}
}

// record is a typical answer of /v1/aqi.
const record = `{"status":"success","city":"Delhi","aqi":266,"category":"Poor","pm25":100.3,"pm10":200,"no2":30,"so2":10,"co":1.1,"o3":40.5,"dominant":"PM2.5","updated":"2026-11-20T08:30:00Z"}`

func current(tb testing.TB, access httpapi.Access) http.Handler {
	tb.Helper()
	ready := httpapi.Ready([]byte(record), changed)
	ready.Cache = []string{"private, max-age=600"}
	h, err := httpapi.New(httpapi.Config{Access: access, Metrics: prometheus.NewRegistry(), Routes: []httpapi.Route{{
		Method: "GET", Path: "/v1/aqi", Scope: "aqi:read", OwnQuery: true, Handler: func(c *httpapi.Call) (httpapi.Response, error) {
			if c.URL.Query().Get("city") != "Delhi" {
				return httpapi.Response{}, schema.NewProblem(schema.NotFound, "city", "no")
			}
			return ready, nil
		},
	}}})
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

func bare() http.Handler {
	r := mux.NewRouter()
	r.HandleFunc("/v1/aqi", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(len(record)))
		_, _ = w.Write([]byte(record))
	})
	return r
}

// benchClient sends one request repeatedly over a kept-alive connection. It is minimal, because it
// shares the machine with the server.
type benchClient struct {
	conn net.Conn
	in   *bufio.Reader
}

var benchRequest = []byte("GET /v1/aqi?city=Delhi HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sk_live_1\r\n\r\n")

func newBenchClient(tb testing.TB, address string) *benchClient {
	tb.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	return &benchClient{conn, bufio.NewReader(conn)}
}

func (a *benchClient) do(tb testing.TB) {
	tb.Helper()
	if _, err := a.conn.Write(benchRequest); err != nil {
		tb.Fatal(err)
	}
	for first := true; ; first = false {
		line, err := a.in.ReadSlice('\n')
		if err != nil || first && !strings.HasPrefix(string(line), "HTTP/1.1 200 ") {
			tb.Fatalf("%q: %v", line, err)
		}
		if len(line) == 2 {
			break
		}
	}
	if _, err := a.in.Discard(len(record)); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkChainAgainstBareMux reports the throughput of the whole chain, with every header,
// relative to a bare mux on the same server. The goal is at least 0.75.
func BenchmarkChainAgainstBareMux(b *testing.B) {
	sides := [...]*benchClient{newBenchClient(b, serve(b, current(b, limited{}), plain(b))), newBenchClient(b, serve(b, bare(), nil))}
	const round = 200
	var took [len(sides)][]float64
	for _, side := range sides {
		side.do(b)
	}
	b.ResetTimer()
	for n := 0; n < b.N || n < 8*round; n += round {
		for i, side := range sides {
			began := time.Now()
			for range round {
				side.do(b)
			}
			took[i] = append(took[i], float64(time.Since(began).Nanoseconds())/round)
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	ours, floor := took[0][len(took[0])/2], took[1][len(took[1])/2]
	b.ReportMetric(ours, "ns/ours")
	b.ReportMetric(floor, "ns/floor")
	b.ReportMetric(floor/ours, "ratio")
}

// BenchmarkChain measures the allocations of the chain.
func BenchmarkChain(b *testing.B) {
	h := current(b, limited{})
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "/v1/aqi?city=Delhi", http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer sk_live_1")
	r.RemoteAddr = "127.0.0.1:4711"
	sink := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(sink.header)
		h.ServeHTTP(sink, r)
	}
}

type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}
