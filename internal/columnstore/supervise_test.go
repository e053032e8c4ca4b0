package columnstore_test

import (
	"bufio"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
)

func one(ctx context.Context, db *columnstore.DB, query string) (n uint64, err error) {
	err = db.Conn().QueryRow(ctx, query).Scan(&n)
	return n, err
}

func TestConnContinuesAfterTheEngineIsKilled(t *testing.T) {
	t.Parallel()
	columnstoretest.Library(t)
	reg := prometheus.NewRegistry()
	db, err := columnstore.Open(embedded(t.TempDir()), slog.New(slog.DiscardHandler), reg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- db.Run(ctx) }()
	if err := db.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	if err := db.Conn().Exec(ctx, "CREATE TABLE kept (a UInt64) ENGINE = MergeTree ORDER BY a"); err != nil {
		t.Fatal(err)
	}
	if err := db.Conn().Exec(ctx, "INSERT INTO kept VALUES (41)"); err != nil {
		t.Fatal(err)
	}
	before, ok := db.Holder()
	if !ok {
		t.Fatal("no holder")
	}
	running := make(chan error, 1)
	go func() {
		_, err := one(ctx, db, "SELECT sum(sipHash64(number)) FROM numbers(1000000000000)")
		running <- err
	}()
	awaitCount(t, db, "SELECT count() FROM system.processes WHERE query LIKE '%numbers(1000000000000) %' AND query NOT LIKE '%processes%'", 1)
	if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	if err := <-running; err == nil {
		t.Error("the query that was running when the engine was killed returned no error")
	}
	awaitOther(t, db, before.PID)
	n, err := one(ctx, db, "SELECT a + 1 FROM kept")
	if err != nil || n != 42 {
		t.Errorf("after the kill: got %d, %v", n, err)
	}
	t.Logf("answered %s after kill -9", time.Since(killed).Round(time.Millisecond))
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		got[f.GetName()] = f.GetMetric()[0].GetCounter().GetValue() + f.GetMetric()[0].GetGauge().GetValue()
	}
	if diff := cmp.Diff(map[string]float64{"vayu_engine_restarts_total": 1, "vayu_engine_up": 1}, got); diff != "" {
		t.Error(diff)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if holder, ok := db.Holder(); ok {
		t.Errorf("after Run the directory is still held by %s", holder)
	}
}

func TestHungEngineIsRestarted(t *testing.T) {
	t.Parallel()
	columnstoretest.Library(t)
	db, err := columnstore.Open(embedded(t.TempDir()), slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	columnstore.SetHangTimeout(db, 10*time.Second) // the next engine must answer in time, also on a busy machine
	run(t, db)
	before, _ := db.Holder()
	if err := syscall.Kill(before.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	awaitOther(t, db, before.PID)
	if n, err := one(t.Context(), db, "SELECT toUInt64(7)"); err != nil || n != 7 {
		t.Errorf("after the hang: got %d, %v", n, err)
	}
}

// awaitOther waits until a process other than pid holds the directory and answers. A query waits for a few seconds only,
// and a busy machine takes longer.
func awaitOther(t *testing.T, db *columnstore.DB, pid int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if holder, ok := db.Holder(); ok && holder.PID != 0 && holder.PID != pid {
			if err := db.Ready(ctx); err != nil {
				t.Fatal(err)
			}
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("no other engine took the directory")
		}
	}
}

// awaitCount waits until a query returns at least n.
func awaitCount(t *testing.T, db *columnstore.DB, query string, n uint64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		got, err := one(ctx, db, query)
		if err != nil {
			t.Fatal(err)
		}
		if got >= n {
			return
		}
		<-tick.C
	}
}

func TestSecondStartNamesTheHolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := own(t, embedded(dir))
	holder, ok := first.Holder()
	if !ok {
		t.Fatal("no holder")
	}
	second, err := columnstore.Open(embedded(dir), slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Check(); err == nil || !strings.Contains(err.Error(), "is held by pid "+strconv.Itoa(holder.PID)) {
		t.Errorf("Check returned %v, want it to name process %d", err, holder.PID)
	}
	err = second.Run(t.Context())
	if want := "data directory " + dir + " is held by pid " + strconv.Itoa(holder.PID) + " ("; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %q…", err, want)
	}
	if ready := second.Ready(t.Context()); ready == nil || ready.Error() != err.Error() {
		t.Errorf("Ready returned %v, Run returned %v", ready, err)
	}
	cfg := embedded(dir)
	cfg.Share = true
	guest := own(t, cfg)
	if n, err := one(t.Context(), guest, "SELECT toUInt64(7)"); err != nil || n != 7 {
		t.Errorf("the command beside a running engine got %d, %v", n, err)
	}
}

// A command that began while the engine of a service was loading may hold the directory. The service waits for its
// end.
func TestServiceWaitsForCommandOnly(t *testing.T) {
	t.Parallel()
	service, command := embedded(t.TempDir()), embedded(t.TempDir())
	command.Share = true
	for _, c := range []struct {
		name   string
		cfg    columnstore.Config
		report columnstore.Report
		ends   bool
	}{
		{"a service after a service", service, columnstore.Report{Error: "held", Held: true}, true},
		{"a service after a command", service, columnstore.Report{Error: "held", Held: true, Command: true}, false},
		{"a command after a service", command, columnstore.Report{Error: "held", Held: true}, false},
		{"a service without the library", service, columnstore.Report{Error: "missing", Missing: true}, true},
		{"a service with another error", service, columnstore.Report{Error: "no space"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db, err := columnstore.Open(c.cfg, slog.New(slog.DiscardHandler), nil)
			if err != nil {
				t.Fatal(err)
			}
			if ends := columnstore.EndsRun(db, c.report); ends != c.ends {
				t.Errorf("the error ends Run: %v, want %v", ends, c.ends)
			}
		})
	}
}

// An engine was killed, and another program listens on its port. The next engine has locked the directory and
// has not yet written its record.
func TestGuestDoesNotUseStalePort(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := embedded(dir)
	cfg.Share = true
	db, err := columnstore.Open(cfg, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Conn().Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the command called another program")
		cancel()
	}))
	defer stranger.Close()
	gone := exec.CommandContext(t.Context(), "true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"engine.lock":     `{"pid":` + strconv.Itoa(gone.Process.Pid) + `,"owner":"killed"}`,
		"engine.port":     strings.TrimPrefix(stranger.URL, "http://"),
		"engine.password": "secret",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	next := flock.New(filepath.Join(dir, "engine.lock"))
	if ok, err := next.TryLock(); err != nil || !ok {
		t.Fatal(ok, err)
	}
	defer next.Close()
	if err := columnstore.Once(ctx, db); err == nil || !strings.Contains(err.Error(), "only just taken") {
		t.Errorf("got %v, want that the directory has only just been taken", err)
	}
}

func TestGuestWithoutEngineStartsOne(t *testing.T) {
	t.Parallel()
	cfg := embedded(t.TempDir())
	cfg.Share = true
	if version, err := own(t, cfg).Version(t.Context()); err != nil || !strings.HasPrefix(version, "26.") {
		t.Errorf("got version %q, %v", version, err)
	}
}

// Answers from memory come first, so all threads of the engine have a lower priority than those of the service.
func TestEngineHasALowerPriority(t *testing.T) {
	t.Parallel()
	db := own(t, embedded(t.TempDir()))
	if _, err := one(t.Context(), db, "SELECT count() FROM numbers_mt(10000000)"); err != nil {
		t.Fatal(err)
	}
	holder, ok := db.Holder()
	if !ok {
		t.Fatal("no holder")
	}
	files, err := filepath.Glob("/proc/" + strconv.Itoa(holder.PID) + "/task/*/stat")
	if err != nil || len(files) < 2 {
		t.Skipf("the threads of a process are known on Linux only: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		_, fields, _ := strings.Cut(string(text), ") ") // the name may have blanks
		// ClickHouse gives some threads of its own a negative value, if it has the right to. They run no queries.
		if nice, err := strconv.Atoi(strings.Fields(fields)[16]); err != nil || nice >= 0 && nice < 10 {
			t.Errorf("%s: got the nice value %d and the error %v, want at least 10", file, nice, err)
		}
	}
}

func TestEngineEndsWithItsParent(t *testing.T) {
	t.Parallel()
	columnstoretest.Library(t)
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), parentVariable+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the parent printed %q, %v", line, err)
	}
	if _, err := strconv.Atoi(strings.TrimSpace(line)); err != nil {
		t.Fatalf("the parent printed no number: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	lock := flock.New(filepath.Join(dir, "engine.lock"))
	defer lock.Close()
	if ok, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil || !ok {
		t.Fatalf("the engine still holds its directory: got %v, %v", ok, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "engine.port")); !os.IsNotExist(err) {
		t.Errorf("the engine left its port file behind: %v", err)
	}
}

func TestMissingLibraryErrorHasCommand(t *testing.T) {
	t.Parallel()
	cfg := embedded(t.TempDir())
	cfg.Library = "/nowhere/libchdb.so"
	db, err := columnstore.Open(cfg, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{db.Check(), db.Run(t.Context())} {
		for _, want := range []string{"npm ci", "--engine-library PATH", "/nowhere/libchdb.so"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want it to contain %q", err, want)
			}
		}
	}
}

// A file that is no library is not retried.
func TestBrokenLibraryEndsTheStart(t *testing.T) {
	t.Parallel()
	cfg := embedded(t.TempDir())
	cfg.Library = filepath.Join(t.TempDir(), "libchdb.so")
	if err := os.WriteFile(cfg.Library, []byte("no ELF file"), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := columnstore.Open(cfg, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Run(t.Context()); err == nil || !strings.Contains(err.Error(), cfg.Library+" cannot be loaded") {
		t.Errorf("got %v, want it to name the file", err)
	}
}
