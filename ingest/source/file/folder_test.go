package file

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
)

const (
	listingHead = "station,last_update,pollutant_id,pollutant_avg\n"
	listingRow  = "\"Pusa, Delhi - IMD\",09-12-2025 12:00:00,PM2.5,99\n"
)

// folderFixture is a folder under test with a clock that the test sets.
type folderFixture struct {
	t   *testing.T
	dir string
	at  time.Time
	src ingest.Source
}

func watch(t *testing.T) *folderFixture {
	t.Helper()
	w := &folderFixture{t: t, dir: t.TempDir(), at: now()}
	src, err := Watched{Config{Folder: w.dir, Settle: 10 * time.Second}, shippedFormats(t)}.New("file", func() time.Time { return w.at })
	if err != nil {
		t.Fatal(err)
	}
	w.src = src
	return w
}

// put writes a file with a modification time age ago.
func (w *folderFixture) put(name, content string, age time.Duration) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chtimes(path, w.at.Add(-age), w.at.Add(-age)); err != nil {
		w.t.Fatal(err)
	}
}

// fetch returns the number of yielded readings.
func (w *folderFixture) fetch(yield error) (rows int, err error) {
	err = w.src.Fetch(w.t.Context(), ingest.Window{}, func(b *ingest.Batch) error {
		defer b.Release()
		rows += b.Rows()
		return yield
	})
	return rows, err
}

func (w *folderFixture) expect(what string, want int) {
	w.t.Helper()
	got, err := w.fetch(nil)
	if err != nil || got != want {
		w.t.Errorf("%s: %d readings and error %v, want %d and none", what, got, err, want)
	}
}

func TestFolderReadsWhatIsNewOrChanged(t *testing.T) {
	t.Parallel()
	w := watch(t)
	w.expect("an empty folder", 0)
	w.put("a.csv", listingHead+listingRow, time.Minute)
	w.put("deep/er/b", listingHead+listingRow+listingRow, time.Hour)
	w.expect("two new files", 3)
	w.expect("nothing new", 0)
	w.put("a.csv", listingHead+listingRow+listingRow, 30*time.Second)
	w.expect("one changed", 2)
	w.put("a.csv", listingHead+strings.Replace(listingRow, "99", "98", 1)+listingRow, 20*time.Second)
	w.expect("one changed without growing", 2)
	if err := os.Remove(filepath.Join(w.dir, "a.csv")); err != nil {
		t.Fatal(err)
	}
	w.expect("one gone", 0)
}

func TestFolderLeavesUnfinishedFilesAlone(t *testing.T) {
	t.Parallel()
	w := watch(t)
	for _, name := range []string{"a.csv.part", "a.tmp", ".a.csv", ".hidden/a.csv", "a.csv~", "a.crdownload"} {
		w.put(name, listingHead+listingRow, time.Hour)
	}
	w.put("growing.csv", listingHead+listingRow, 9*time.Second)
	w.expect("unfinished files", 0)
	w.at = w.at.Add(time.Second)
	w.expect("a file that was left alone", 1)
}

func TestFolderReadsTheOldestFirst(t *testing.T) {
	t.Parallel()
	w := watch(t)
	w.put("a.csv", listingHead+listingRow, time.Minute)
	w.put("b.csv", listingHead+strings.Replace(listingRow, "99", "11", 1), time.Hour)
	var values []float64
	err := w.src.Fetch(t.Context(), ingest.Window{}, func(b *ingest.Batch) error {
		defer b.Release()
		values = append(values, b.Reading(0).Value)
		return nil
	})
	if diff := cmp.Diff([]float64{11, 99}, values); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
}

// TestFolderTriesAgain checks that a file is read again if its readings were not
// accepted.
func TestFolderTriesAgain(t *testing.T) {
	t.Parallel()
	w := watch(t)
	w.put("a.csv", listingHead+listingRow, time.Minute)
	down := errors.New("the store is down")
	if _, err := w.fetch(down); !errors.Is(err, down) {
		t.Errorf("error %v, want %v", err, down)
	}
	w.expect("the next fetch", 1)
}

// TestFolderReportsUnknownFormatsOnce checks that a file of unknown format affects
// neither other files nor later fetches.
func TestFolderReportsUnknownFormatsOnce(t *testing.T) {
	t.Parallel()
	w := watch(t)
	w.put("README", "what lies here\n", time.Hour)
	w.put("a.csv", listingHead+listingRow, time.Minute)
	rows, err := w.fetch(nil)
	if rows != 1 || err == nil || !strings.Contains(err.Error(), "README") || !strings.Contains(err.Error(), "format is not known") {
		t.Errorf("%d readings and error %v, want 1 and one about README", rows, err)
	}
	w.expect("the next fetch", 0)
	w.put("README", listingHead+listingRow, 30*time.Second)
	w.expect("the stranger turned into a table", 1)
}

// TestFolderSkipsUnreadableSubfolder uses a subfolder whose path is too long to
// open. Unlike missing permissions, this also stops root.
func TestFolderSkipsUnreadableSubfolder(t *testing.T) {
	t.Parallel()
	w := watch(t)
	w.put("a.csv", listingHead+listingRow, time.Minute)
	w.put("z/b.csv", listingHead+listingRow, time.Hour)
	at, err := os.OpenRoot(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Repeat("m", 200)
	for range 25 { // a path may have 4,096 bytes
		if err := at.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		deeper, err := at.OpenRoot(name)
		if err != nil {
			t.Fatal(err)
		}
		_ = at.Close()
		at = deeper
	}
	_ = at.Close()
	rows, err := w.fetch(nil)
	refused, ok := errors.AsType[*ingest.BatchError](err)
	if rows != 2 {
		t.Errorf("%d readings, want 2", rows)
	}
	if !ok {
		t.Fatalf("got error %.200v, want one of the type %T", err, refused)
	}
	if refused.Reason != ingest.Unreadable || !strings.Contains(refused.Detail, name) {
		t.Errorf("got %s, %.200q; want %s with the name of the subfolder", refused.Reason, refused.Detail, ingest.Unreadable)
	}
	w.put("c.csv", listingHead+listingRow, time.Minute)
	w.expect("the next fetch reports it no more", 1)
	if err := os.RemoveAll(filepath.Join(w.dir, name)); err != nil {
		t.Fatal(err)
	}
	w.expect("it is gone", 0)
}

func TestMissingFolder(t *testing.T) {
	t.Parallel()
	w := watch(t)
	if err := os.Remove(w.dir); err != nil {
		t.Fatal(err)
	}
	if _, err := w.fetch(nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want that it does not exist", err)
	}
	if _, err := (Watched{}).New("file", now); err == nil {
		t.Error("a source without a folder was built")
	}
}
