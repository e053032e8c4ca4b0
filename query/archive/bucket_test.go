package archive_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vayu/query/archive"
)

// storage is an empty bucket of the object storage of the tests, and the variables that name it.
type storage struct {
	t       *testing.T
	address string
	env     map[string]string
}

func newStorage(t *testing.T, text string) *storage {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	secret, _ := u.User.Password()
	return &storage{t, fmt.Sprintf("s3://vayu-%d/the archive", time.Now().UnixNano()), map[string]string{
		"AWS_ENDPOINT_URL": u.Scheme + "://" + u.Host, "AWS_ACCESS_KEY_ID": u.User.Username(), "AWS_SECRET_ACCESS_KEY": secret,
	}}
}

// needStorage skips a test without a storage.
func needStorage(t *testing.T) *storage {
	t.Helper()
	text := os.Getenv("VAYU_TEST_S3")
	if text == "" && os.Getenv("CI") != "true" {
		t.Skip("VAYU_TEST_S3 is not set")
	}
	return newStorage(t, text)
}

func (s *storage) open() *archive.Bucket {
	s.t.Helper()
	b, err := archive.NewBucket(s.address, func(name string) string { return s.env[name] })
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

func (s *storage) create() *archive.Bucket {
	s.t.Helper()
	b := s.open()
	if err := b.Create(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return b
}

// through sends the requests to the storage through a handler.
func (s *storage) through(handle func(next http.Handler) http.Handler) {
	s.t.Helper()
	to, err := url.Parse(s.env["AWS_ENDPOINT_URL"])
	if err != nil {
		s.t.Fatal(err)
	}
	next := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // it is signed
	}}
	server := httptest.NewServer(handle(next))
	s.t.Cleanup(server.Close)
	s.env["AWS_ENDPOINT_URL"] = server.URL
}

// interrupted calls during while its first file is written.
type interrupted struct {
	archive.Place

	during func()
}

func (p *interrupted) Put(ctx context.Context, path string, write func(io.Writer) error) (archive.Stored, error) {
	if p.during != nil {
		p.during()
		p.during = nil
	}
	return p.Place.Put(ctx, path, write)
}

// TestSlowerOfTwoRunsChangesNothing runs a second archive in the middle of a first one.
func TestSlowerOfTwoRunsChangesNothing(t *testing.T) {
	t.Parallel()
	s := needStorage(t)
	s.create()
	w := full(t)
	for _, name := range []string{"new archive", "old archive"} {
		w.exec("INSERT INTO air.reading SELECT * REPLACE (value + 1 AS value, now64(3) AS ingested_at) FROM air.reading FINAL")
		slower := &interrupted{s.open(), func() { w.mustArchive(s.open()) }}
		if _, err := w.archive(slower); !errors.Is(err, archive.ErrBusy) {
			t.Errorf("%s: error %v of the slower run, want %v", name, err, archive.ErrBusy)
		}
		report := w.verify(s.open())
		if len(report.Faults) > 0 || len(report.Unlisted) > 0 {
			t.Errorf("%s: faults %v and %d unlisted files, want the archive of the faster run", name, report.Faults, len(report.Unlisted))
		}
	}
}

// TestKilledRunLeavesTheArchive ends a run after its files, without its manifest. The files of the run are new names.
func TestKilledRunLeavesTheArchive(t *testing.T) {
	t.Parallel()
	s := needStorage(t)
	w := full(t)
	w.mustArchive(s.create())
	w.exec("INSERT INTO air.reading SELECT * REPLACE (7 AS value, now64(3) AS ingested_at) FROM air.reading FINAL")
	if _, err := w.archive(&killed{s.open()}); !errors.Is(err, errKilled) {
		t.Fatalf("error %v, want %v", err, errKilled)
	}
	report := w.verify(s.open())
	if len(report.Faults) > 0 || len(report.Unlisted) != 4 {
		t.Errorf("faults %v and %d unlisted files after a kill, want the last archive and the 4 new months", report.Faults, len(report.Unlisted))
	}
	w.mustArchive(s.open())
	if report := w.verify(s.open()); len(report.Faults) > 0 || len(report.Unlisted) > 0 {
		t.Errorf("faults %v and %d unlisted files after the next run, want none", report.Faults, len(report.Unlisted))
	}
}

// killed is a place of a process that is killed before its manifest.
type killed struct{ archive.Place }

var errKilled = errors.New("killed")

func (killed) Commit(context.Context, []byte) error { return errKilled }
func (killed) End(context.Context) error            { return nil }

// TestFailedRequestsAreRepeated has a storage that answers every third request with an error, or not at all.
func TestFailedRequestsAreRepeated(t *testing.T) {
	t.Parallel()
	s := needStorage(t)
	s.create()
	var n atomic.Int32
	s.through(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch n.Add(1) % 8 {
			case 3:
				w.WriteHeader(http.StatusServiceUnavailable)
			case 6:
				panic(http.ErrAbortHandler)
			default:
				next.ServeHTTP(w, r)
			}
		})
	})
	w := full(t)
	w.mustArchive(s.open())
	if report := w.verify(s.open()); len(report.Faults) > 0 || report.Files < 18 {
		t.Errorf("faults %v in %d files, want none in 18 or more", report.Faults, report.Files)
	}
}

// TestLostReplyOfTheManifest stores the manifest, and loses the reply. The repeated write finds its own manifest.
func TestLostReplyOfTheManifest(t *testing.T) {
	t.Parallel()
	s := needStorage(t)
	s.create()
	var lost atomic.Int32
	s.through(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, archive.ManifestName) && lost.Add(1)%2 == 1 {
				next.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			}
			next.ServeHTTP(w, r)
		})
	})
	w := full(t)
	w.mustArchive(s.open())
	if report := w.verify(s.open()); len(report.Faults) > 0 || len(report.Unlisted) > 0 {
		t.Errorf("faults %v and %d unlisted files, want none", report.Faults, len(report.Unlisted))
	}
}

// TestSilentStorageEndsTheRun has a storage that never replies.
func TestSilentStorageEndsTheRun(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(end) })
	s := newStorage(t, server.URL)
	b := s.open()
	b.SetTimeout(100 * time.Millisecond)
	if _, err := archive.ReadManifest(t.Context(), b); !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that the time is over", err)
	}
	if _, err := b.List(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want %v", err, context.DeadlineExceeded)
	}
}
