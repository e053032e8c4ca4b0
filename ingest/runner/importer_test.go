package runner_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vayu/ingest"
	"vayu/ingest/runner"
	"vayu/internal/panics"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// tableSource is an input of rows with three values each, the last of them
// rejected. It fills several batches.
type tableSource struct {
	rows   int
	start  int
	opened *[]int64 // positions at which it was opened
}

const tableRows = 320_000

func (s tableSource) open(position int64) (ingest.Source, error) {
	s.start = int(position)
	*s.opened = append(*s.opened, position)
	return s, nil
}

func (s tableSource) Fetch(_ context.Context, w ingest.Window, yield func(*ingest.Batch) error) error {
	b := ingest.NewBuilder("file", w.To, yield)
	for row := s.start; row < s.rows; row++ {
		b.At(int64(row))
		st := station(fmt.Sprint("s", row%7))
		if row%7 == 3 {
			st.Latitude = 60
		}
		n := b.Station(st)
		at := now.Add(-time.Duration(row/7) * time.Hour)
		if err := b.Add(n, concentration(air.PM25, at, float64(row%500))); err != nil {
			b.Discard()
			return err
		}
		if err := b.Add(n, concentration(air.PM10, at, float64(row%900))); err != nil {
			b.Discard()
			return err
		}
		b.Reject(ingest.MissingValue)
	}
	b.At(int64(s.rows))
	return b.Close()
}

type readingKey struct {
	station   string
	parameter parameter.Parameter
	at        time.Time
}

// memoryStore stores readings by key in memory and can panic.
type memoryStore struct {
	keys       map[readingKey]bool
	batches    int
	failsAt    int // number of the batch, from 1
	failsAfter int
}

var errKilled = errors.New("killed")

func (l *memoryStore) Load(_ context.Context, b *ingest.Batch) error {
	l.batches++
	if l.batches == l.failsAt {
		panic(errKilled)
	}
	for row := range b.Rows() {
		r := b.Reading(row)
		l.keys[readingKey{r.Station, r.Parameter, r.At}] = true
	}
	if l.batches == l.failsAfter {
		panic(errKilled)
	}
	return nil
}

// want is the summary of a complete import of a table.
var want = runner.Summary{
	Read: 3 * tableRows, Stored: 2 * tableRows, Stations: 7,
	Rejected: ingest.Rejections{ingest.MissingValue: tableRows}, Positions: ingest.Rejections{ingest.BadPosition: 1},
}

var countsOnly = cmp.Options{cmpopts.IgnoreFields(runner.Summary{}, "Elapsed", "Resumed")}

// An import succeeds if only its record fails.
func TestImportWithoutJournal(t *testing.T) {
	t.Parallel()
	store, opened := &memoryStore{keys: map[readingKey]bool{}}, []int64{}
	broken := &memoryJournal{err: errors.New("ClickHouse is down")}
	got, err := runner.NewImporter(store, broken, t.TempDir()).Import(t.Context(), runner.Job{Key: "table", Open: tableSource{rows: tableRows, opened: &opened}.open})
	if err != nil || got.Stored != want.Stored {
		t.Errorf("%d readings stored, error %v, want %d", got.Stored, err, want.Stored)
	}
	if !errors.Is(got.RecordError, broken.err) {
		t.Errorf("RecordError is %v, want %v", got.RecordError, broken.err)
	}
}

func TestImportCountsEveryValue(t *testing.T) {
	t.Parallel()
	store, opened := &memoryStore{keys: map[readingKey]bool{}}, []int64{}
	var last runner.Summary
	calls := 0
	got, err := runner.NewImporter(store, &memoryJournal{}, t.TempDir()).Import(t.Context(), runner.Job{
		Key: "table", Open: tableSource{rows: tableRows, opened: &opened}.open,
		Progress: func(s runner.Summary) {
			calls++
			if s.Stored < last.Stored || s.Read != s.Stored+s.Rejected[ingest.MissingValue] {
				t.Errorf("progress went from %+v to %+v", last, s)
			}
			last = s
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, countsOnly); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if calls < 3 || last.Stored != got.Stored {
		t.Errorf("%d reports of progress, the last at %d", calls, last.Stored)
	}
	if got.Resumed {
		t.Error("Resumed is true for a first import")
	}
}

func TestKilledImportLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	for batch := 1; batch <= 3; batch++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint("batch ", batch, " stored ", after), func(t *testing.T) {
				t.Parallel()
				dir, store, opened := t.TempDir(), &memoryStore{keys: map[readingKey]bool{}}, []int64{}
				if after {
					store.failsAfter = batch
				} else {
					store.failsAt = batch
				}
				job := runner.Job{Key: "table", Open: tableSource{rows: tableRows, opened: &opened}.open}
				if _, err := runner.NewImporter(store, &memoryJournal{}, dir).Import(t.Context(), job); err == nil {
					t.Fatal("the import was not interrupted")
				}
				got, err := runner.NewImporter(store, &memoryJournal{}, dir).Import(t.Context(), job)
				if err != nil {
					t.Fatal(err)
				}
				// A row that spans the interruption is counted once, so the sums
				// are exact.
				w := want
				if got.Resumed {
					w.Positions = got.Positions // each attempt describes the stations again
				}
				if diff := cmp.Diff(w, got, countsOnly); diff != "" {
					t.Errorf("summary (-want +got):\n%s", diff)
				}
				if len(store.keys) != 2*tableRows {
					t.Errorf("%d different readings stored, want %d", len(store.keys), 2*tableRows)
				}
				if wantResumed := batch > 1; got.Resumed != wantResumed || (opened[1] > 0) != wantResumed {
					t.Errorf("resumed %v from %v", got.Resumed, opened)
				}
				if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
					t.Errorf("a finished import left %v behind", left)
				}
			})
		}
	}
}

func TestDamagedProgressRestartsImport(t *testing.T) {
	t.Parallel()
	dir, store, opened := t.TempDir(), &memoryStore{keys: map[readingKey]bool{}, failsAt: 3}, []int64{}
	job := runner.Job{Key: "table", Open: tableSource{rows: tableRows, opened: &opened}.open}
	importer := runner.NewImporter(store, &memoryJournal{}, dir)
	if _, err := importer.Import(t.Context(), job); err == nil {
		t.Fatal("the import was not interrupted")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(files) != 1 {
		t.Fatalf("progress files: %v", files)
	}
	if err := os.WriteFile(files[0], []byte(`{"key":"table","posi`), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := importer.Import(t.Context(), job)
	if err != nil || got.Resumed || opened[1] != 0 {
		t.Errorf("Import = resumed %v from %v, %v", got.Resumed, opened, err)
	}
	if diff := cmp.Diff(want, got, countsOnly); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestImportReturnsErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	importer := runner.NewImporter(&memoryStore{keys: map[readingKey]bool{}}, &memoryJournal{}, t.TempDir())
	if _, err := importer.Import(t.Context(), runner.Job{Open: func(int64) (ingest.Source, error) { return nil, broken }}); !errors.Is(err, broken) {
		t.Errorf("Import of an input that does not open = %v", err)
	}
	src := &sourceFunc{fetch: func(context.Context, int, ingest.Window, func(*ingest.Batch) error) error { return broken }}
	if _, err := importer.Import(t.Context(), runner.Job{Open: func(int64) (ingest.Source, error) { return src, nil }}); !errors.Is(err, broken) {
		t.Errorf("Import of an input that fails = %v", err)
	}
	var refused *runner.StoreError
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	opened := []int64{}
	_, err := runner.NewImporter(&memoryStore{keys: map[readingKey]bool{}}, &memoryJournal{}, dir).Import(t.Context(), runner.Job{Open: tableSource{rows: tableRows, opened: &opened}.open})
	if err == nil || errors.As(err, &refused) {
		t.Errorf("Import that cannot save its progress = %v", err)
	}
}

func TestImportRetriesStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, src := &memoryArchive{failures: 3}, &sourceFunc{fetch: yieldOne}
		got, err := runner.NewImporter(store, &memoryJournal{}, t.TempDir()).Import(t.Context(), runner.Job{Open: func(int64) (ingest.Source, error) { return src, nil }})
		if err != nil {
			t.Fatal(err)
		}
		if got.Stored != 1 || store.rows != 1 {
			t.Errorf("Import = %+v, and the store has %d rows; want 1 stored row", got, store.rows)
		}
	})
}

func TestFileKeyChangesWithTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.csv")
	keys := map[string]bool{}
	for _, text := range []string{"one", "longer"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := runner.FileKey(path)
		if err != nil {
			t.Fatal(err)
		}
		keys[key] = true
	}
	if len(keys) != 2 {
		t.Errorf("one key for two contents: %v", keys)
	}
	if _, err := runner.FileKey(path + ".missing"); err == nil {
		t.Error("FileKey of no file")
	}
}

func TestTryReturnsEverythingWithoutStoring(t *testing.T) {
	t.Parallel()
	src := &sourceFunc{fetch: func(ctx context.Context, n int, w ingest.Window, yield func(*ingest.Batch) error) error {
		if err := yieldOne(ctx, n, w, yield); err != nil {
			return err
		}
		panic("half way")
	}}
	got, err := runner.FetchSample(t.Context(), src, ingest.Window{To: now}, math.MaxInt)
	if panicked, ok := errors.AsType[*panics.Error](err); !ok {
		t.Errorf("FetchSample = %v, want the panic as an error", err)
	} else if len(panicked.Stack) == 0 {
		t.Errorf("FetchSample = %v without a stack", panicked)
	}
	reading := concentration(air.PM25, now, 50)
	reading.Station, reading.Source = "a", "test"
	if diff := cmp.Diff([]air.Reading{reading}, got.Readings); diff != "" {
		t.Errorf("readings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(ingest.Rejections{ingest.MissingValue: 1}, got.Rejected); diff != "" || len(got.Stations) != 1 {
		t.Errorf("%d stations, rejected (-want +got):\n%s", len(got.Stations), diff)
	}
}

// TestImportThatStoresNothingFails checks that an input without a valid reading is
// an error with the most frequent reason.
func TestImportThatStoresNothingFails(t *testing.T) {
	t.Parallel()
	run := func(fetch func(b *ingest.Builder)) error {
		src := &sourceFunc{fetch: func(_ context.Context, _ int, w ingest.Window, yield func(*ingest.Batch) error) error {
			b := ingest.NewBuilder("file", w.To, yield)
			fetch(b)
			return b.Close()
		}}
		store := &withdrawingStore{memoryStore{keys: map[readingKey]bool{}}}
		_, err := runner.NewImporter(store, &memoryJournal{}, t.TempDir()).Import(t.Context(), runner.Job{Open: func(int64) (ingest.Source, error) { return src, nil }})
		return err
	}
	var nothing *runner.NothingStoredError
	err := run(func(b *ingest.Builder) {
		b.Reject(ingest.BadTime)
		b.Reject(ingest.BadTime)
		b.Reject(ingest.BadLine)
	})
	if !errors.As(err, &nothing) || !strings.Contains(err.Error(), "2 of 3 values were rejected as bad_time") {
		t.Errorf("Import of unreadable times = %v", err)
	}
	if err := run(func(*ingest.Builder) {}); !errors.As(err, &nothing) || !strings.Contains(err.Error(), "no values") {
		t.Errorf("Import of an empty table = %v", err)
	}
	if err := run(func(b *ingest.Builder) { b.Missing(b.Station(station("a")), concentration(air.PM25, now, 0)) }); err != nil {
		t.Errorf("Import that takes a reading back = %v", err)
	}
}

// withdrawingStore is a store that has a reading for every missing key of a batch.
type withdrawingStore struct{ memoryStore }

func (w *withdrawingStore) Load(ctx context.Context, b *ingest.Batch) error {
	b.Withdrawn = len(b.Missing)
	return w.memoryStore.Load(ctx, b)
}
