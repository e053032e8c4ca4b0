package described

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/internal/testing/fixture"
)

// fileRows describes files of tables. Its verb is the section files.
const fileRows = `
about: files of a test
licence: CC0
attribution: a test
local: true
overlap: 3h
csv: {}
station: {id: id}
time: {field: t, format: rfc3339}
readings: {pm25: {value: v, unit: µg/m³}}
files: %s
`

const fileOne = "id,t,v\na,2026-06-09T11:00:00Z,7\n"

// filesFixture is a source of files with its clock.
type filesFixture struct {
	t     *testing.T
	clock fixture.Clock
	src   ingest.Source
}

func filesSource(t *testing.T, files string) *filesFixture {
	t.Helper()
	f := &filesFixture{t: t}
	f.clock.Set(noon)
	d, err := Parse(File{Path: "rows.yaml", Text: fmt.Appendf(nil, fileRows, files), Env: anyKey})
	if err != nil {
		t.Fatal(err)
	}
	if f.src, err = d.New("rows", f.clock.Now); err != nil {
		t.Fatal(err)
	}
	return f
}

// fetched is what a fetch yielded.
type fetchedFiles struct {
	rows     int
	rejected ingest.Rejections
	values   []ingest.RejectedValue
}

func (f *filesFixture) fetch() (got fetchedFiles, err error) {
	f.t.Helper()
	err = f.src.Fetch(f.t.Context(), ingest.Window{}, func(b *ingest.Batch) error {
		got.rows += b.Rows()
		got.rejected.Merge(b.Rejected)
		got.values = append(got.values, b.Values...)
		return drop(b)
	})
	return got, err
}

// check fetches and compares the number of readings.
func (f *filesFixture) check(what string, want int) {
	f.t.Helper()
	got, err := f.fetch()
	if err != nil {
		f.t.Fatalf("%s: %v", what, err)
	}
	if got.rows != want {
		f.t.Errorf("%s: %d readings, want %d", what, got.rows, want)
	}
}

// put writes a file that was changed an hour before.
func put(t *testing.T, path string, content []byte, age time.Duration) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, noon.Add(-age), noon.Add(-age)); err != nil {
		t.Fatal(err)
	}
}

func TestFileIsDoneUntilItChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := filesSource(t, fmt.Sprintf(`{folder: %q, name: "**/*.csv"}`, dir))
	put(t, filepath.Join(dir, "a", "one.csv"), []byte(fileOne), time.Hour)
	f.check("new", 1)
	f.check("unchanged", 0)
	put(t, filepath.Join(dir, "a", "one.csv"), []byte(fileOne+"a,2026-06-09T10:00:00Z,7\n"), 30*time.Minute)
	f.check("changed", 2)
	put(t, filepath.Join(dir, "two.csv"), []byte(fileOne), 2*time.Second)
	f.check("still growing", 0)
	f.clock.Advance(time.Minute)
	f.check("settled", 1)
	if err := os.Remove(filepath.Join(dir, "two.csv")); err != nil {
		t.Fatal(err)
	}
	f.check("deleted", 0)
	put(t, filepath.Join(dir, "two.csv"), []byte(fileOne), 2*time.Second)
	f.check("came again", 1)
	put(t, filepath.Join(dir, "later.csv"), []byte(fileOne), -24*time.Hour)
	f.check("time in the future", 1)
}

// TestDamagedFileIsRejectedOnce checks that the rejected value names the file, and that the
// next fetch does not read the file again.
func TestDamagedFileIsRejectedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := filesSource(t, fmt.Sprintf(`{folder: %q, name: "*.csv"}`, dir))
	put(t, filepath.Join(dir, "good.csv"), []byte(fileOne), time.Hour)
	put(t, filepath.Join(dir, "page.csv"), []byte("<html>Log in</html>"), time.Hour)
	got, err := f.fetch()
	if err != nil {
		t.Fatal(err)
	}
	if got.rows != 1 || got.rejected[ingest.Unreadable] != 1 {
		t.Errorf("%d readings, rejected %v, want one of each", got.rows, got.rejected)
	}
	if len(got.values) != 1 || !strings.Contains(got.values[0].Raw, `"page.csv"`) || !strings.Contains(got.values[0].Raw, "HTML") {
		t.Errorf("rejected values %v, want one that names the file and HTML", got.values)
	}
	if got, err := f.fetch(); err != nil || got.rows != 0 || len(got.rejected) != 0 {
		t.Errorf("the second fetch gave %d readings, rejected %v, error %v, want nothing", got.rows, got.rejected, err)
	}
}

// TestOnlyDamagedFilesFail checks that a fetch without a readable file is an error.
func TestOnlyDamagedFilesFail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := filesSource(t, fmt.Sprintf(`{folder: %q, name: "*.csv"}`, dir))
	put(t, filepath.Join(dir, "renamed.csv"), []byte("id,time,v\na,2026-06-09T11:00:00Z,7\n"), time.Hour)
	_, err := f.fetch()
	var refused *ingest.BatchError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), `file "renamed.csv"`) || !strings.Contains(err.Error(), `no column "t" (key time.field)`) {
		t.Errorf("error %v, want bad_reply with the file and the column", err)
	}
}

// text answers with a text.
func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, body) }
}

// TestUnopenedFileIsOpenedAgain checks that a file which could not be opened is read later,
// even if the window no longer has it.
func TestUnopenedFileIsOpenedAgain(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	broken.Store(true)
	server := network(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/2026060909":
			if broken.Load() {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			_, _ = fmt.Fprint(w, fileOne)
		case "/2026060910", "/2026061010":
			_, _ = fmt.Fprint(w, fileOne)
		default:
			http.NotFound(w, r)
		}
	})
	f := filesSource(t, fmt.Sprintf(`{url: "%s/{yyyy}{mm}{dd}{HH}"}`, server))
	f.check("one of two files", 1)
	broken.Store(false)
	f.clock.Advance(24 * time.Hour)
	f.check("a file of the day and the late one", 2)
}

// TestBrokenStorageEndsFetch checks that a storage which fails is not requested for every file.
func TestBrokenStorageEndsFetch(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	server := network(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	})
	f := filesSource(t, fmt.Sprintf(`{url: "%s/{yyyy}{mm}{dd}{HH}", parallel: 2}`, server))
	err := f.src.Fetch(t.Context(), ingest.Window{From: noon.Add(-240 * time.Hour), To: noon}, drop)
	if err == nil || !strings.Contains(err.Error(), "5 files in a row cannot be opened") {
		t.Errorf("error %v, want that files cannot be opened", err)
	}
	if n := calls.Load(); n < 5 || n > 10 {
		t.Errorf("%d requests, want about five", n)
	}
}

// TestUnchangedFileIsNotDownloaded checks that a file with a validator of HTTP is requested
// conditionally.
func TestUnchangedFileIsNotDownloaded(t *testing.T) {
	t.Parallel()
	var sent, unchanged atomic.Int64
	server := network(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"7"`)
		if r.Header.Get("If-None-Match") == `"7"` {
			unchanged.Add(1)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent.Add(1)
		_, _ = fmt.Fprint(w, fileOne)
	})
	f := filesSource(t, fmt.Sprintf(`{url: "%s/all.csv"}`, server))
	f.check("new", 1)
	f.check("unchanged", 0)
	if sent.Load() != 1 || unchanged.Load() != 1 {
		t.Errorf("%d files sent, %d unchanged, want one of each", sent.Load(), unchanged.Load())
	}
}

// TestFilesAreOpenedAhead checks that at most `parallel` files are opened at once, and that
// they are read in order.
func TestFilesAreOpenedAhead(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now, most, gate := 0, 0, make(chan struct{})
	// Each request ends when three of them are there.
	server := network(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now++
		most = max(most, now)
		mine := gate
		if now == 3 {
			close(gate)
			now, gate = 0, make(chan struct{})
		}
		mu.Unlock()
		<-mine
		_, _ = fmt.Fprintf(w, "id,t,v\n%s,2026-06-09T11:00:00Z,7\n", strings.TrimPrefix(r.URL.Path, "/"))
	})
	f := filesSource(t, fmt.Sprintf(`{url: "%s/{yyyy}{mm}{dd}{HH}", parallel: 3}`, server))
	var order []string
	err := f.src.Fetch(t.Context(), ingest.Window{From: noon.Add(-12 * time.Hour), To: noon}, func(b *ingest.Batch) error {
		for i := range b.Rows() {
			order = append(order, strings.TrimPrefix(b.Reading(i).Station, "rows-2026060"))
		}
		return drop(b)
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "900 901 902 903 904 905 906 907 908 909 910 911"
	if diff := cmp.Diff(want, strings.Join(order, " ")); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if most != 3 {
		t.Errorf("%d requests at once, want 3", most)
	}
}

// packed returns a ZIP archive of files with the same content.
func packed(t *testing.T, content []byte, names ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range names {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// lying returns an archive whose directory says that its files are small.
func lying(t *testing.T) []byte {
	t.Helper()
	archive := packed(t, bytes.Repeat([]byte("a,2026-06-09T11:00:00Z,7\n"), 1<<20), "x.csv")
	at := bytes.LastIndex(archive, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(archive[at+24:], 100)
	return archive
}

// TestHostileFiles checks that each file has a named reason, and that the others are read.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	zeros := make([]byte, 32<<20)
	names := make([]string, 30_000)
	for i := range names {
		names[i] = fmt.Sprintf("%0120d.csv", i)
	}
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"gzip bomb":        {zipped(t, zeros), "exceeds 1048576 bytes"},
		"gzip of lines":    {zipped(t, append([]byte("id,t,v\n"), bytes.Repeat([]byte("a,b,c\n"), 1<<20)...)), "exceeds 1048576 bytes"},
		"ZIP bomb":         {packed(t, zeros, "x.csv"), "the files of the ZIP archive exceed 1048576 bytes"},
		"ZIP of many":      {packed(t, bytes.Repeat([]byte{'x'}, 200<<10), "1.csv", "2.csv", "3.csv", "4.csv", "5.csv", "6.csv"), "exceed 1048576 bytes"},
		"ZIP that lies":    {lying(t), "zip"},
		"ZIP directory":    {packed(t, nil, names...), "too many files"},
		"ZIP cut off":      {packed(t, []byte(fileOne), "x.csv")[:60], "damaged or cut off"},
		"ZIP without file": {packed(t, []byte(fileOne), "x.txt"), "no file of the ZIP archive matches files.within"},
		"nested ZIP":       {packed(t, packed(t, []byte(fileOne), "x.csv"), "y.csv"), "csv.encoding"},
		"too large":        {bytes.Repeat([]byte("x"), 17<<20), "exceeds 16777216 bytes"},
		"gzip cut off":     {zipped(t, []byte(fileOne))[:20], "EOF"},
		"web page":         {[]byte("<!DOCTYPE html>\n<title>x</title>"), "HTML"},
		"many columns":     {[]byte(strings.Repeat("a,", 400_000)), "more than 4096 columns"},
		"empty":            {nil, "no header"},
		"binary":           {bytes.Repeat([]byte{0, 1, 2, 0xff}, 1000), "csv.encoding"},
		"Latin-1 header":   {[]byte("id,t,v\xe9\n"), "csv.encoding"},
		"other table":      {[]byte("date,amount\n2026,7\n"), `no column "t"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, filepath.Join(dir, "a.dat"), c.content, time.Hour)
			put(t, filepath.Join(dir, "b.dat"), []byte(fileOne), time.Hour)
			f := filesSource(t, fmt.Sprintf(`{folder: %q, name: "*.dat", within: "*.csv", max-bytes: 16MiB, max-unpacked: 1MiB}`, dir))
			got, err := f.fetch()
			if err != nil {
				t.Fatal(err)
			}
			if got.rows != 1 || got.rejected[ingest.Unreadable] != 1 {
				t.Errorf("%d readings, rejected %v, want one of each", got.rows, got.rejected)
			}
			for _, v := range got.values {
				if v.Reason == ingest.Unreadable && !strings.Contains(v.Raw, c.want) {
					t.Errorf("reason %q, want %q", v.Raw, c.want)
				}
			}
		})
	}
}

// TestHostileServers checks downloads that never end, come slowly, or lead elsewhere.
func TestHostileServers(t *testing.T) {
	t.Parallel()
	inside := network(t, text(fileOne))
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"endless": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte("a,b,c\n"), 1000)); err != nil {
					return
				}
			}
		}, "exceeds 1048576 bytes"},
		"drip": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprint(w, "id,t,v\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "no complete reply in time"},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = fmt.Fprint(w, fileOne)
		}, "unexpected EOF"},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inside, http.StatusFound) }, "redirect to another host"},
		"web page":  {text("<html>sorry</html>"), "HTML"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := filesSource(t, fmt.Sprintf(`{url: "%s/all.csv", max-bytes: 1MiB, timeout: 1s}`, network(t, c.answer)))
			got, err := f.fetch()
			if err == nil || !strings.Contains(err.Error(), c.want) || got.rows != 0 {
				t.Errorf("error %v, %d readings, want %q and none", err, got.rows, c.want)
			}
		})
	}
}

// TestFilesAtPrivateAddressesAreRefused checks each kind of place without local: true.
func TestFilesAtPrivateAddressesAreRefused(t *testing.T) {
	t.Parallel()
	var called atomic.Bool
	server := strings.Replace(network(t, func(http.ResponseWriter, *http.Request) { called.Store(true) }), "http:", "https:", 1)
	for name, files := range map[string]string{
		"url":    fmt.Sprintf(`{url: "%s/all.csv"}`, server),
		"index":  fmt.Sprintf(`{index: "%s/", name: "*.csv"}`, server),
		"bucket": fmt.Sprintf(`{bucket: archive, endpoint: %q, name: "*.csv"}`, server),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Parse(File{Path: "rows.yaml", Text: []byte(strings.Replace(fmt.Sprintf(fileRows, files), "local: true", "", 1)), Env: anyKey})
			if err != nil {
				t.Fatal(err)
			}
			src, err := d.New("rows", func() time.Time { return noon })
			if err != nil {
				t.Fatal(err)
			}
			if err := src.Fetch(t.Context(), ingest.Window{}, drop); err == nil || !strings.Contains(err.Error(), "prohibited") {
				t.Errorf("error %v, want a refused connection", err)
			}
		})
	}
	if called.Load() {
		t.Error("the server was called")
	}
}
