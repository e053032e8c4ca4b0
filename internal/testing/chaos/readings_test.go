package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vayu/internal/sleep"
	"vayu/schema"
)

// Readings repeatedly writes a file with newer readings into the folder that instances collect from. It
// polls ClickHouse for the time at which each was stored.
type Readings struct {
	Folder string
	// Air is the text of a file with readings of a moment, to the second.
	Air func(at time.Time) string
	// Query queries ClickHouse directly, past every cut link.
	Query func(ctx context.Context, sql string) (string, error)

	mu     sync.Mutex
	given  map[int64]bool   // by the moment of the readings, seconds
	stored map[int64]Stored // by the same key
	wrong  error            // the last error of writing
}

// Stored is when the readings of a moment were stored in ClickHouse.
type Stored struct {
	// Began is when ClickHouse began to store them.
	Began time.Time
	// RolledUp is when the results of their roll-up were stored; zero before.
	RolledUp time.Time
}

// Intervals of writing and polling.
const (
	feedEvery   = 3 * time.Second
	lookEvery   = time.Second
	pollTimeout = 2 * time.Second
)

// Run writes files until ctx ends.
func (f *Readings) Run(ctx context.Context) {
	f.mu.Lock()
	f.given, f.stored = map[int64]bool{}, map[int64]Stored{}
	f.mu.Unlock()
	var all sync.WaitGroup
	all.Go(func() {
		for sleep.For(ctx, lookEvery) {
			_ = f.look(ctx) // ClickHouse is unavailable: the next poll finds it
		}
	})
	for again := true; again; again = sleep.For(ctx, feedEvery) {
		f.give(time.Now().Truncate(time.Second))
	}
	all.Wait()
}

// give writes a file with readings of the given time into the folder.
func (f *Readings) give(at time.Time) {
	file := filepath.Join(f.Folder, fmt.Sprint(at.Unix(), ".xml"))
	err := os.WriteFile(file+".tmp", []byte(f.Air(at)), 0o600)
	if err == nil {
		err = os.Rename(file+".tmp", file)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.given[at.Unix()] = err == nil; err != nil {
		f.wrong = fmt.Errorf("giving readings: %w", err)
	}
}

// selectStored selects for each moment of readings when storing them began. It also selects the end of the
// first roll-up that began later, and so includes them. Times are milliseconds, 0 for none.
const selectStored = `SELECT toUnixTimestamp(r.at), toUnixTimestamp64Milli(r.stored), toUnixTimestamp64Milli(u.at)
	FROM (SELECT 1 AS one, at, min(ingested_at) AS stored FROM %[1]s.reading GROUP BY at) AS r
	ASOF LEFT JOIN (SELECT 1 AS one, started, at FROM %[1]s.rollup) AS u ON r.one = u.one AND r.stored <= u.started`

// look reads from ClickHouse what is stored. A new leader reads the folder again, so only the first time of
// storing a reading counts.
func (f *Readings) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	text, err := f.Query(ctx, fmt.Sprintf(selectStored, schema.Live.Database()))
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for line := range strings.Lines(text) {
		var second, stored, rolledUp int64
		if _, err := fmt.Sscan(line, &second, &stored, &rolledUp); err != nil {
			return fmt.Errorf("reading what is stored: %w", err)
		}
		s, known := f.stored[second]
		if !known {
			s.Began = time.UnixMilli(stored)
		}
		if s.RolledUp.IsZero() && rolledUp > 0 {
			s.RolledUp = time.UnixMilli(rolledUp)
		}
		f.stored[second] = s
	}
	return nil
}

// Stored returns when the readings of a moment were stored; false if they are not.
func (f *Readings) Stored(at time.Time) (Stored, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, ok := f.stored[at.Unix()]
	return s, ok
}

// Missing waits until all readings are stored, or until the timeout, and returns how many of the
// given files are not.
func (f *Readings) Missing(ctx context.Context, timeout time.Duration) (missing, given int, err error) {
	for until := time.Now().Add(timeout); ; {
		if err = f.look(ctx); err == nil {
			if missing, given, err = f.count(); err != nil || missing == 0 || time.Now().After(until) {
				return missing, given, err
			}
		}
		if time.Now().After(until) {
			return 0, 0, err
		}
		if !sleep.For(ctx, lookEvery) {
			return 0, 0, ctx.Err()
		}
	}
}

func (f *Readings) count() (missing, given int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for at := range f.given {
		if _, ok := f.stored[at]; !ok {
			missing++
		}
	}
	return missing, len(f.given), f.wrong
}

func TestMissingFiles(t *testing.T) {
	t.Parallel()
	reply, wrong := "", error(nil)
	f := &Readings{
		Folder: t.TempDir(),
		Air:    func(at time.Time) string { return fmt.Sprint("air of ", at.Unix()) },
		Query:  func(context.Context, string) (string, error) { return reply, wrong },
		given:  map[int64]bool{}, stored: map[int64]Stored{},
	}
	f.give(second(1))
	f.give(second(4))
	name := filepath.Join(f.Folder, fmt.Sprint(second(4).Unix(), ".xml"))
	if text, err := os.ReadFile(name); err != nil || string(text) != fmt.Sprint("air of ", second(4).Unix()) {
		t.Errorf("the file holds %q: %v", text, err)
	}
	reply = fmt.Sprintf("%d\t%d\t0\n", second(1).Unix(), second(2).UnixMilli())
	if missing, given, err := f.Missing(t.Context(), 0); missing != 1 || given != 2 || err != nil {
		t.Errorf("%d of %d are missing: %v", missing, given, err)
	}
	reply = fmt.Sprintf("%d\t%d\t%d\n%d\t%d\t0\n", second(1).Unix(), second(60).UnixMilli(), second(3).UnixMilli(), second(4).Unix(), second(5).UnixMilli())
	if missing, given, err := f.Missing(t.Context(), 0); missing != 0 || given != 2 || err != nil {
		t.Errorf("%d of %d are missing: %v", missing, given, err)
	}
	for at, want := range map[time.Time]Stored{second(1): {second(2), second(3)}, second(4): {Began: second(5)}} {
		if got, ok := f.Stored(at); !ok || !got.Began.Equal(want.Began) || !got.RolledUp.Equal(want.RolledUp) {
			t.Errorf("Stored(%v) = %+v, %v, want %+v, though it was stored again", at, got, ok, want)
		}
	}
	wrong = errors.New("ClickHouse is away")
	if _, _, err := f.Missing(t.Context(), 0); !errors.Is(err, wrong) {
		t.Errorf("without ClickHouse the error is %v", err)
	}
}

func TestFeedReportsWriteError(t *testing.T) {
	t.Parallel()
	f := &Readings{
		Folder: filepath.Join(t.TempDir(), "none"), Air: func(time.Time) string { return "" },
		Query: func(context.Context, string) (string, error) { return "", nil },
		given: map[int64]bool{}, stored: map[int64]Stored{},
	}
	f.give(second(1))
	if _, _, err := f.Missing(t.Context(), 0); err == nil {
		t.Error("no file was written, and there is no error")
	}
}
