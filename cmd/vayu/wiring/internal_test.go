package wiring

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"vayu/cmd/vayu/settings"
	"vayu/internal/config"
	"vayu/internal/testing/fixture"
)

// newTestService makes a service that does not run, with a setting of internal-listen.
func newTestService(t *testing.T, internal string, log *slog.Logger) *Service {
	t.Helper()
	cfg := settings.Defaults()
	cfg.Data, cfg.InternalListen = t.TempDir(), internal
	s, err := New(cfg, log, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	s.readyCache.detail, s.readyCache.at = map[string]any{"roles": s.Roles}, time.Now().Add(time.Hour) // the stores do not run
	return s
}

// request sends a request to a handler and returns the reply.
func request(h http.Handler, path string) (status int, body string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	return w.Code, w.Body.String()
}

// Metrics are public only with internal-listen public.
func TestMetricsAreNotPublic(t *testing.T) {
	t.Parallel()
	for internal, public := range map[string]bool{"": false, settings.InternalOff: false, "127.0.0.1:9099": false, settings.InternalPublic: true} {
		t.Run("internal-listen "+internal, func(t *testing.T) {
			t.Parallel()
			s := newTestService(t, internal, slog.New(slog.DiscardHandler))
			status, body := request(s.server.Handler, "/metrics")
			if public != (status == http.StatusOK && strings.Contains(body, "vayu_")) || !public && status != http.StatusNotFound {
				t.Errorf("/metrics at the address of the API: got %d %.200s, public is %v", status, body, public)
			}
			status, body = request(s.server.Handler, "/readyz")
			if bare := strings.TrimSpace(body) == `{"status":"starting"}`; status != http.StatusServiceUnavailable || bare == public {
				t.Errorf("/readyz at the address of the API: got %d %s, in detail is %v", status, body, public)
			}
			if status, _ = request(s.server.Handler, "/debug/pprof/"); status != http.StatusNotFound {
				t.Errorf("profiles at the address of the API: got %d, want 404", status)
			}
		})
	}
}

func TestTheInternalListenerServesOperators(t *testing.T) {
	t.Parallel()
	h := newTestService(t, "", slog.New(slog.DiscardHandler)).internalHandler()
	for path, want := range map[string]string{
		"/healthz": "ok", "/metrics": "go_goroutines", "/readyz": `"roles":["api"`, "/debug/pprof/": "goroutine", "/debug/pprof/heap?debug=1": "heap profile",
	} {
		status, body := request(h, path)
		if !strings.Contains(body, want) {
			t.Errorf("%s: got %d %.200s, want %s", path, status, body, want)
		}
	}
	for _, path := range []string{"/debug/pprof/cmdline", "/v1/aqi"} { // flags may hold secrets
		if status, body := request(h, path); status != http.StatusNotFound {
			t.Errorf("%s: got %d %.200s, want 404", path, status, body)
		}
	}
}

func TestTheDefaultInternalAddressFollowsListen(t *testing.T) {
	t.Parallel()
	for listen, want := range map[config.Address]string{
		"127.0.0.1:8080": "127.0.0.1:9080", "0.0.0.0:8081": "127.0.0.1:9081", ":443": "127.0.0.1:1443", "[::1]:65000": "127.0.0.1:64000", "127.0.0.1:0": "127.0.0.1:0",
	} {
		if got, chosen := (settings.Config{Listen: listen}).InternalAddress(); got != want || chosen {
			t.Errorf("listen %s: got %q, chosen %v; want %q", listen, got, chosen, want)
		}
	}
	for setting, want := range map[string]string{"10.0.0.7:9100": "10.0.0.7:9100", settings.InternalOff: "", settings.InternalPublic: ""} {
		if got, chosen := (settings.Config{Listen: "127.0.0.1:8080", InternalListen: setting}).InternalAddress(); got != want || !chosen {
			t.Errorf("internal-listen %s: got %q, chosen %v; want %q", setting, got, chosen, want)
		}
	}
	valid := settings.Defaults()
	valid.InternalListen = "nowhere"
	if wrong := valid.Validate(); len(wrong) != 1 {
		t.Errorf("internal-listen nowhere: got %v, want one fault", wrong)
	}
}

// Only a configured address in use is an error.
func TestDefaultInternalAddressInUseIsNotAnError(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	log := &fixture.Log{}
	s := &Service{log: log.Logger()}
	s.Listen = config.Address(net.JoinHostPort("127.0.0.1", strconv.Itoa(port-settings.InternalOffset)))
	if l, err := s.listenInternal(t.Context()); l != nil || err != nil || !strings.Contains(log.String(), "internal-listen") {
		t.Errorf("default: got %v, %v, logged %s; want a warning", l, err, log)
	}
	s.InternalListen = taken.Addr().String()
	if l, err := s.listenInternal(t.Context()); l != nil || err == nil || !strings.Contains(err.Error(), "internal-listen") {
		t.Errorf("chosen: got %v, %v; want an error that names the setting", l, err)
	}
}
