package console_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"

	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/testing/fixture"
	"vayu/query/console"
)

// promptVariable has the URL of ClickHouse for a child process of the test binary that runs a prompt.
const promptVariable = "VAYU_TEST_PROMPT"

func promptChild() {
	to, err := url.Parse(os.Getenv(promptVariable))
	if err == nil {
		c := console.Config{HTTP: http.DefaultClient, Watch: &http.Client{Transport: watching{}}, URL: to, Database: "system", Out: os.Stdout, Err: os.Stderr, Progress: true}
		err = c.Prompt(context.Background(), console.HistoryFile())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// watching marks requests of the user who sees all queries. The user of the others is analyst.
type watching struct{}

func (watching) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Watching", "yes")
	return http.DefaultTransport.RoundTrip(r)
}

// promptFixture is a prompt in a terminal.
type promptFixture struct {
	*testing.T

	terminal *os.File
	home     string
	ended    chan error

	mu   sync.Mutex
	text string // what the terminal has shown
}

func newPrompt(t *testing.T, home string) *promptFixture {
	t.Helper()
	users := map[string]http.Handler{}
	for header, analyst := range map[string]bool{"": true, "yes": false} {
		client, to, err := columnstoretest.New(t).HTTP(analyst)
		if err != nil {
			t.Fatal(err)
		}
		users[header] = &httputil.ReverseProxy{Transport: client.Transport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { users[r.Header.Get("Watching")].ServeHTTP(w, r) }))
	t.Cleanup(proxy.Close)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), promptVariable+"="+proxy.URL+"/", "XDG_DATA_HOME="+home, "TERM=xterm")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	f := &promptFixture{T: t, terminal: terminal, home: home, ended: make(chan error, 1)}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), terminal.Close() })
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := terminal.Read(buffer)
			f.mu.Lock()
			f.text += string(buffer[:n])
			f.mu.Unlock()
			if err != nil {
				f.ended <- cmd.Wait()
				return
			}
		}
	}()
	f.await("system> ")
	return f
}

// await waits until the terminal shows text, and forgets everything up to it.
func (f *promptFixture) await(text string) string {
	f.Helper()
	var before string
	defer func() {
		if f.Failed() {
			f.Logf("the terminal shows %q", f.text)
		}
	}()
	fixture.Eventually(f.T, "the terminal shows "+text, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		shown, rest, found := strings.Cut(f.text, text)
		if found {
			before, f.text = shown, rest
		}
		return found
	})
	return before
}

func (f *promptFixture) press(keys string) {
	f.Helper()
	if _, err := f.terminal.WriteString(keys); err != nil {
		f.Fatal(err)
	}
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	f := newPrompt(t, t.TempDir())
	f.press("SELECT 40 +\r")
	f.await("-> ")
	f.press("2 AS answer;\r")
	f.await("│ 42 ")
	f.await("system> ")

	f.press("SELECT nonsense;\r")
	f.await("unknown column `nonsense`")
	f.await("system> ")

	f.press("SELECT count(create_table_quer\t) FROM tables;\r") // Tab completes
	f.await("│ count(create_table_query) ")
	f.await("system> ")

	f.press("SELECT 1 +\x03") // Ctrl-C discards the line
	f.await("system> ")
	f.press("SELECT sum(sleepEachRow(0.1)) FROM numbers(100000) SETTINGS max_block_size = 1;\r")
	if shown := f.await("rows/s"); strings.HasSuffix(shown, " 0 ") {
		t.Error("the progress is 0")
	}
	f.press("\x03")
	f.await("cancelled")
	f.await("system> ")

	f.press("USE default;\r")
	f.await("default> ")
	f.press("\x04")
	if err := <-f.ended; err != nil {
		t.Errorf("the prompt ended with %v", err)
	}

	path := filepath.Join(f.home, "vayu", "sql_history")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the history has the mode %v, want 0600", info.Mode())
	}
	again := newPrompt(t, f.home)
	again.press("\x1b[A\x1b[A") // two lines up
	again.await("SELECT sum(sleepEachRow(0.1))")
}
