//go:build integration

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The keys of the tests, as an operator would set them.
const (
	liveKey    = "sk_live_of-the-integration-tests"
	sandboxKey = "sk_test_of-the-integration-tests"
)

// patience bounds every wait of these tests on a busy machine. Waits end when
// what they wait for is there.
const patience = 90 * time.Second

// binary returns the program as `make build` leaves it.
func binary(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../bin/vayu")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("run make build first: %v", err)
	}
	return path
}

// vayu runs a command of vayu to its end and returns what it printed; with an
// error, what it said of that too.
func vayu(t *testing.T, data string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary(t), append([]string{args[0], "--data", data, "--engine-port", "0"}, args[1:]...)...)
	cmd.Dir = t.TempDir()
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return out.String() + said.String(), err
	}
	return out.String(), nil
}

// serving is a running `vayu serve`.
type serving struct {
	*testing.T
	cmd     *exec.Cmd
	address string
	data    string
	done    chan struct{}
}

// serve starts the service on a free port and waits until it is healthy.
func serve(t *testing.T, data string, args ...string) *serving {
	t.Helper()
	all := append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0", "--sources", "none", "--engine-port", "0", "--log-format", "json"}, args...)
	cmd := exec.Command(binary(t), all...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "VAYU_API_KEY="+liveKey, "VAYU_SANDBOX_KEY="+sandboxKey)
	logs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &serving{T: t, cmd: cmd, data: data, done: make(chan struct{})}
	address := make(chan string, 1)
	go func() {
		defer close(s.done)
		lines := bufio.NewScanner(logs)
		for lines.Scan() {
			var line struct{ Msg, Address string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
				address <- line.Address
			}
		}
		_ = cmd.Wait()
	}()
	t.Cleanup(func() { s.stop(syscall.SIGTERM) }) // in order, so that the engine leaves its directory too
	select {
	case s.address = <-address:
	case <-s.done:
		t.Fatal("the service ended before it served")
	case <-time.After(patience):
		t.Fatal("the service does not serve")
	}
	return s
}

// stop sends a signal and waits for the process to end.
func (s *serving) stop(signal syscall.Signal) {
	s.Helper()
	_ = s.cmd.Process.Signal(signal)
	select {
	case <-s.done:
	case <-time.After(patience):
		s.Fatalf("the service outlives %v", signal)
	}
}

// reply is an answer of the API.
type reply struct {
	status int
	header http.Header
	body   map[string]any
	raw    string
}

// get asks the API once.
func (s *serving) get(key, path string) reply {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatalf("GET %s: %v", path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.Fatalf("GET %s: %v", path, err)
	}
	r := reply{status: resp.StatusCode, header: resp.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, &r.body)
	return r
}

// eventually asks until the answer is what it should be.
func (s *serving) eventually(key, path string, want func(reply) bool) reply {
	s.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		r := s.get(key, path)
		if want(r) {
			return r
		}
		select {
		case <-deadline:
			s.Fatalf("GET %s stays %d %s", path, r.status, r.raw)
		case <-tick.C:
		}
	}
}

// answer asks as a client should: again, as long as a busy service says that
// it may.
func (s *serving) answer(key, path string) reply {
	s.Helper()
	return s.eventually(key, path, func(r reply) bool { return r.status != http.StatusServiceUnavailable })
}

func ok(r reply) bool { return r.status == http.StatusOK }

// sql asks the running service's engine through the command.
func (s *serving) sql(query string) string {
	s.Helper()
	out, err := vayu(s.T, s.data, "sql", "--format", "csv", query)
	if err != nil {
		s.Fatalf("vayu sql %q: %v\n%s", query, err, out)
	}
	return strings.TrimSpace(out)
}

// aqi is the path of a question for a city.
func aqi(city string, more ...string) string {
	values := url.Values{"city": {city}}
	for i := 0; i+1 < len(more); i += 2 {
		values.Set(more[i], more[i+1])
	}
	return fmt.Sprintf("/v1/aqi?%s", values.Encode())
}
