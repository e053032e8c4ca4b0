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
const patience = 90 * time.Second

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

// vayu runs a command of vayu to its end and returns what it printed; with an
// error, what it said of that too.
func vayu(t *testing.T, data string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary(t), append(args, "--data", data, "--engine-port", "0")...)
	cmd.Dir = t.TempDir()
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return out.String() + said.String(), err
	}
	return out.String(), nil
}

// checkService is a running `vayu serve`, with a key of each world that has every
// scope and an account without limits.
type serving struct {
	*testing.T
	cmd           *exec.Cmd
	address       string
	data          string
	live, sandbox string
	done          chan struct{}
	logs          *transcript
}

// transcript is all that a process has written.
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

// newKey makes a key beside the service, or before it.
func newKey(t *testing.T, data, mode string, args ...string) string {
	t.Helper()
	out, err := vayu(t, data, append([]string{"key", "create", "--mode", mode, "--quiet"}, args...)...)
	if err != nil {
		t.Fatalf("making a key: %v\n%s", err, out)
	}
	return strings.TrimSpace(out)
}

// serve makes a key of each world and starts the service on a free port.
func serve(t *testing.T, data string, args ...string) *serving {
	t.Helper()
	live := newKey(t, data, "live", "--plan", "unlimited", "--scopes", "all")
	sandbox := newKey(t, data, "test", "--scopes", "all")
	s := start(t, data, args...)
	s.live, s.sandbox = live, sandbox
	return s
}

// start starts the service and waits until it is healthy.
func start(t *testing.T, data string, args ...string) *serving {
	t.Helper()
	s, served := begin(t, exec.Command(binary(t)), data, args...)
	if !served {
		t.Fatalf("the service ended before it served:\n%s", s.logs)
	}
	return s
}

// begin starts a service with a command that has its program, and its environment
// if it is another one, and waits until it is healthy; false when it has ended
// before.
func begin(t *testing.T, cmd *exec.Cmd, data string, args ...string) (s *serving, served bool) {
	t.Helper()
	cmd.Args = append(cmd.Args, "serve", "--data", data, "--listen", "127.0.0.1:0", "--internal-listen", "public", "--sources", "none", "--engine-port", "0", "--log-format", "json", "--rate-limits", "off")
	cmd.Args = append(cmd.Args, args...)
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
	s = &serving{T: t, cmd: cmd, data: data, done: make(chan struct{}), logs: transcript}
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
	t.Cleanup(func() { s.stop(syscall.SIGTERM) }) // in order, so that the engine leaves its directory too
	select {
	case s.address = <-address:
		return s, true
	case <-s.done:
		return s, false
	case <-time.After(patience):
		t.Fatalf("the service does not serve:\n%s", s.logs)
		return nil, false
	}
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
	return s.send(http.MethodGet, key, path, "")
}

// send asks the API once, with a JSON body unless it is empty.
func (s *serving) send(method, key, path, body string, headers ...string) reply {
	s.Helper()
	r, err := s.try(method, key, path, body, headers...)
	if err != nil {
		s.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

// try is send for a service that may be killed meanwhile.
func (s *serving) try(method, key, path, body string, headers ...string) (reply, error) {
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

// code is the code of a refusal.
func (r reply) code() string {
	refusal, _ := r.body["error"].(map[string]any)
	code, _ := refusal["code"].(string)
	return code
}

// text is a field of the reply, or of its data.
func (r reply) text(name string) string {
	if v, ok := r.body[name].(string); ok {
		return v
	}
	data, _ := r.body["data"].(map[string]any)
	v, _ := data[name].(string)
	return v
}

// eventually asks until the answer is what it should be.
func (s *serving) eventually(key, path string, want func(reply) bool) reply {
	s.Helper()
	return s.within(patience, key, path, want)
}

// backlogPatience is for what a service that was killed for minutes has left to do.
const backlogPatience = 10 * time.Minute

// within is eventually with a time of its own.
func (s *serving) within(most time.Duration, key, path string, want func(reply) bool) reply {
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
