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
	"sync"
	"syscall"
	"testing"
	"time"

	"vayu/internal/httpapi/httpapitest"
)

// patience bounds every wait of these tests, also on a busy machine.
const patience = 5 * time.Minute

// logOfFailure is the length of a service's output that a failed test prints, in bytes.
const logOfFailure = 8 << 10

// binary returns the program as `make build` leaves it.
func binary(t *testing.T) string { return built(t, "vayu", "make build") }

// built returns a program that make has built.
func built(t *testing.T, name, by string) string {
	t.Helper()
	path, err := filepath.Abs("../../bin/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("run %s first: %v", by, err)
	}
	return path
}

// vayu runs a command of vayu and returns its output, and on failure also its error
// output.
func vayu(t *testing.T, data string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary(t), append(args, "--data", data, "--engine-port", "0")...)
	cmd.Dir = t.TempDir()
	var out, messages strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil {
		return out.String() + messages.String(), err
	}
	return out.String(), nil
}

// serverProcess is a running `vayu serve`. It has a key of each world with every scope,
// and an account without limits.
type serverProcess struct {
	*testing.T
	cmd           *exec.Cmd
	address       string
	data          string
	live, sandbox string
	done          chan struct{}
	logs          *transcript
}

// transcript is the output of a process.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// newKey makes a key, with a running service or without one.
func newKey(t *testing.T, data, mode string, args ...string) string {
	t.Helper()
	out, err := vayu(t, data, append([]string{"key", "create", "--mode", mode, "--quiet"}, args...)...)
	if err != nil {
		t.Fatalf("making a key: %v\n%s", err, out)
	}
	return strings.TrimSpace(out)
}

// serve makes a key of each world and starts the service on a free port.
func serve(t *testing.T, data string, args ...string) *serverProcess {
	t.Helper()
	live := newKey(t, data, "live", "--plan", "unlimited", "--scopes", "all")
	sandbox := newKey(t, data, "test", "--scopes", "all")
	s := start(t, data, args...)
	s.live, s.sandbox = live, sandbox
	return s
}

// start starts the service and waits until it is healthy.
func start(t *testing.T, data string, args ...string) *serverProcess {
	t.Helper()
	s, served := startProcess(t, exec.Command(binary(t)), data, args...)
	if !served {
		t.Fatalf("the service ended before it served:\n%s", s.logs)
	}
	return s
}

// startProcess starts a service with a command, and waits until it is healthy; false
// when the process ended before.
func startProcess(t *testing.T, cmd *exec.Cmd, data string, args ...string) (s *serverProcess, served bool) {
	t.Helper()
	cmd.Args = append(cmd.Args, "serve", "--data", data, "--listen", "127.0.0.1:0", "--internal-listen", "public", "--sources", "none", "--engine-port", "0", "--log-format", "json", "--rate-limits", "off")
	cmd.Args = append(cmd.Args, args...)
	// Sixty days of simulated readings would take 85 s of processor time.
	cmd.Env = append(cmd.Environ(), "VAYU_SOURCE_SIMULATOR_HISTORY=36h")
	cmd.Dir = t.TempDir()
	transcript := &transcript{}
	cmd.Stdout = transcript
	logs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s = &serverProcess{T: t, cmd: cmd, data: data, done: make(chan struct{}), logs: transcript}
	address := make(chan string, 1)
	go func() {
		defer close(s.done)
		lines := bufio.NewScanner(io.TeeReader(logs, transcript))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var line struct{ Msg, Address string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
				address <- line.Address
			}
		}
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		s.stop(syscall.SIGTERM) // in order, so that the engine leaves its directory too
		if t.Failed() {
			text := transcript.String()
			t.Logf("the last messages of the service:\n%s", text[max(0, len(text)-logOfFailure):])
		}
	})
	select {
	case s.address = <-address:
		return s, true
	case <-s.done:
		return s, false
	case <-time.After(patience):
		t.Fatalf("the service is not healthy:\n%s", s.logs)
		return nil, false
	}
}

// stop sends a signal and waits for the process to end.
func (s *serverProcess) stop(signal syscall.Signal) {
	s.Helper()
	_ = s.cmd.Process.Signal(signal)
	select {
	case <-s.done:
	case <-time.After(patience):
		s.Fatalf("the service is still running after %v", signal)
	}
}

// reply is a reply of the API.
type reply struct {
	status int
	header http.Header
	body   map[string]any
	raw    string
}

// get sends one GET request to the API.
func (s *serverProcess) get(key, path string) reply {
	s.Helper()
	return s.send(http.MethodGet, key, path, "")
}

// send sends one request to the API, with a JSON body unless it is empty.
func (s *serverProcess) send(method, key, path, body string, headers ...string) reply {
	s.Helper()
	r, err := s.try(method, key, path, body, headers...)
	if err != nil {
		s.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

// try is send, but returns an error if the service is killed.
func (s *serverProcess) try(method, key, path, body string, headers ...string) (reply, error) {
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.address+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, err
	}
	httpapitest.Check(s, req, resp, raw)
	r := reply{status: resp.StatusCode, header: resp.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, &r.body)
	return r, nil
}

// code returns the error code of a reply.
func (r reply) code() string {
	refusal, _ := r.body["error"].(map[string]any)
	code, _ := refusal["code"].(string)
	return code
}

// text returns a field of the reply, or of its data.
func (r reply) text(name string) string {
	if v, ok := r.body[name].(string); ok {
		return v
	}
	data, _ := r.body["data"].(map[string]any)
	v, _ := data[name].(string)
	return v
}

// eventually repeats a request until want accepts the reply.
func (s *serverProcess) eventually(key, path string, want func(reply) bool) reply {
	s.Helper()
	return s.within(patience, key, path, want)
}

// backlogPatience bounds the wait for the backlog of a service that was killed for
// minutes.
const backlogPatience = 10 * time.Minute

// within is eventually with a timeout.
func (s *serverProcess) within(most time.Duration, key, path string, want func(reply) bool) reply {
	s.Helper()
	deadline := time.After(most)
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

// answer repeats a request while a busy service replies with Retry-After.
func (s *serverProcess) answer(key, path string) reply {
	s.Helper()
	return s.eventually(key, path, func(r reply) bool { return r.status != http.StatusServiceUnavailable })
}

func ok(r reply) bool { return r.status == http.StatusOK }

// sql queries the engine of the running service by the command.
func (s *serverProcess) sql(query string) string {
	s.Helper()
	out, err := vayu(s.T, s.data, "sql", "--write", "--format", "csv", query)
	if err != nil {
		s.Fatalf("vayu sql %q: %v\n%s", query, err, out)
	}
	return strings.TrimSpace(out)
}

// aqi returns the path of the AQI of a city.
func aqi(city string, more ...string) string {
	values := url.Values{"city": {city}}
	for i := 0; i+1 < len(more); i += 2 {
		values.Set(more[i], more[i+1])
	}
	return fmt.Sprintf("/v1/aqi?%s", values.Encode())
}
