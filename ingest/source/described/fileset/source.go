package fileset

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/source/described/storage"
	"vayu/ingest/source/file/table"
)

// Params are what a source needs beside its section files.
type Params struct {
	Name     string // of the source of the readings
	Lookback time.Duration
	// Lag is by how much, at most, the times of records precede the ends of their intervals.
	Lag    time.Duration
	Client storage.Client
	Web    storage.Web         // Header, Query and Clean
	Clean  func(string) string // removes secrets from a text
	Clock  func() time.Time
	// Begin returns the partitions of a window, none for one without fields, and the function
	// that reads the files of a fetch.
	Begin func(ctx context.Context, w ingest.Window) ([]map[string]string, ReadFile, error)
}

// ReadFile adds the readings of a file to a builder. file has the fields of its name, and part those
// of its partition. It may open the file twice. The first result is the number of readings.
type ReadFile func(in *table.Input, file, part map[string]string, b *ingest.Builder) (int, error)

// Source reads the files of a storage. A file is done until it changes.
type Source struct {
	Params

	c       *Config
	storage storage.Storage
	// marks are the versions of the files that are done, by path.
	marks map[string]string
	// again has the files that could not be opened, by path.
	again map[string]task
}

// task is a file to be read.
type task struct {
	storage.Object

	file, part map[string]string
	known      string    // version that is done; "" for none
	failed     time.Time // when it could not be opened first
}

const (
	// storeAfter readings are passed on before the next file, so that they are stored and
	// their files are done.
	storeAfter = 50_000
	// chunk is how many files are listed before they are read, if there are several listings.
	chunk = 1000
	// mostTasks bounds the memory of a listing. The next fetch continues.
	mostTasks = 100_000
	// maxConsecutive files in a row that cannot be opened end a fetch: the storage has
	// probably failed.
	maxConsecutive = 5
	// maxAgain is how long a file that cannot be opened is tried again.
	maxAgain = 7 * 24 * time.Hour
	// mostAgain is how many such files are tried again.
	mostAgain = 10_000
	// mostMarks bounds the memory of the files that are done.
	mostMarks = 1_000_000
)

// New returns the source of a section.
func (c *Config) New(p Params) *Source {
	s := &Source{Params: p, c: c, marks: make(map[string]string), again: make(map[string]task)}
	switch c.kind {
	case inFolder:
		s.storage = &storage.Folder{Root: c.at, Settle: c.settle, Limit: c.limit, Clock: p.Clock}
	case inBucket:
		s.storage = &storage.Bucket{
			Client: p.Client, Name: c.bucket, Region: c.region, Endpoint: c.endpoint, AccessKey: c.accessKey, SecretKey: c.secretKey,
			Clean: p.Clean, Limit: c.limit,
		}
	default:
		web := p.Web
		web.Client, web.Limit, web.Index = p.Client, c.limit, c.kind == byIndex
		s.storage = &web
	}
	return s
}

// Fetch yields the readings of new and changed files of a window. Files of a folder or
// bucket without dates in their names belong to every window. A file that cannot be read is
// counted as [ingest.Unreadable] and is done until it changes. A file that cannot be opened is
// opened again by the next fetch.
func (s *Source) Fetch(ctx context.Context, w ingest.Window, yield func(*ingest.Batch) error) error {
	now := s.Clock()
	if w.To.IsZero() || w.To.After(now) {
		w.To = now
	}
	if w.From.IsZero() || !w.From.Before(w.To) {
		w.From = w.To.Add(-s.Lookback)
	}
	w.From = w.From.Add(-s.Lag)
	f := &fetching{Source: s, window: w, now: now, present: make(map[string]bool), tried: make(map[string]bool)}
	f.yield = func(b *ingest.Batch) error {
		f.yieldErr = yield(b)
		return f.yieldErr
	}
	f.begin(ctx)
	defer func() { f.builder.Discard() }()
	if err := f.run(ctx); err != nil {
		return s.cleaned(fmt.Errorf("reading the files of source %q: %w", s.Name, err))
	}
	return f.pass(ctx)
}

// fetching is the state of one call of Fetch.
type fetching struct {
	*Source

	window   ingest.Window
	now      time.Time
	yield    func(*ingest.Batch) error
	yieldErr error
	builder  *ingest.Builder
	reader   ReadFile

	readings int    // added since the last pass
	done     []mark // files whose readings the builder may still hold
	present  map[string]bool
	tried    map[string]bool // files that an earlier fetch could not open

	listed, matched   int
	absent            int // files that do not exist
	good, consecutive int
	last              error // of a file
}

// mark is a file with its version.
type mark struct{ path, version string }

// begin starts a builder.
func (f *fetching) begin(ctx context.Context) {
	earlier := f.builder
	f.builder = ingest.NewBuilder(f.Name, f.now, f.yield)
	f.builder.Observe(ctx)
	if earlier != nil {
		f.builder.Continue(earlier)
	}
}

// pass yields what the builder holds. Then its files are done.
func (f *fetching) pass(ctx context.Context) error {
	full := f.builder
	f.begin(ctx)
	if err := full.Close(); err != nil {
		return err
	}
	f.readings = 0
	for _, m := range f.done {
		if len(f.marks) < mostMarks {
			f.marks[m.path] = m.version
		}
	}
	f.done = f.done[:0]
	return nil
}

func (f *fetching) run(ctx context.Context) error {
	parts, read, err := f.Begin(ctx, f.window)
	if err != nil {
		return fmt.Errorf("the list of partitions: %w", err)
	}
	f.reader = read
	if len(parts) == 0 {
		parts = []map[string]string{nil}
	}
	tasks := f.late()
	for _, part := range parts {
		for _, date := range f.c.step.dates(f.window, f.c.zone) {
			if tasks, err = f.list(ctx, tasks, part, date); err != nil {
				return err
			}
			if len(tasks) < chunk {
				continue
			}
			if err := f.each(ctx, tasks); err != nil {
				return err
			}
			tasks = tasks[:0]
		}
	}
	if err := f.each(ctx, tasks); err != nil {
		return err
	}
	f.forget()
	return f.outcome()
}

// late returns the files that an earlier fetch could not open.
func (f *fetching) late() []task {
	var tasks []task
	for path, t := range f.again {
		if delete(f.again, path); f.now.Sub(t.failed) < maxAgain {
			tasks = append(tasks, t)
			f.tried[path] = true
		}
	}
	return tasks
}

// list adds the new and changed files at the place of a partition and a date to tasks.
func (f *fetching) list(ctx context.Context, tasks []task, part, date map[string]string) ([]task, error) {
	err := f.storage.List(ctx, f.address(part, date), func(o storage.Object) error {
		if o.Err != nil {
			f.refuse(o.Path, o.Err)
			return nil //nolint:nilerr // a file that cannot be listed stops no other
		}
		f.listed++
		file, ok := f.match(o.Path, date)
		if !ok {
			return nil
		}
		f.matched++
		f.present[o.Path] = true
		if f.tried[o.Path] || !f.c.nameBy.overlaps(file, f.window, f.c.zone) {
			return nil
		}
		known := f.marks[o.Path]
		if known != "" && known == o.Version || len(tasks) == mostTasks {
			return nil
		}
		tasks = append(tasks, task{Object: o, file: file, part: part, known: known})
		return nil
	})
	return tasks, err
}

// address returns the URL or path of the files, with each {field} replaced by that of the partition or the date.
func (f *fetching) address(part, date map[string]string) string {
	escape := func(text string) string { return text }
	if f.c.kind == byURL || f.c.kind == byIndex {
		escape = url.PathEscape
	}
	return fieldPattern.ReplaceAllStringFunc(f.c.at, func(field string) string {
		name := strings.Trim(field, "{}")
		if value, ok := date[name]; ok {
			return value
		}
		return escape(part[name])
	})
}

// match returns the fields of a path, or false if the file is none of the source. Fields of
// dates in the place are fields of the file, too.
func (f *fetching) match(path string, date map[string]string) (fields map[string]string, ok bool) {
	name := path
	if u, err := url.Parse(path); err == nil && u.Host != "" {
		name = strings.TrimPrefix(u.Path, "/")
	}
	fields = make(map[string]string)
	if f.c.name != nil {
		if fields, ok = f.c.name.Match(name); !ok {
			return nil, false
		}
	}
	for key, value := range date {
		if _, named := fields[key]; !named {
			fields[key] = value
		}
	}
	fields["path"] = name
	fields["name"] = name[strings.LastIndexByte(name, '/')+1:]
	return fields, true
}

// forget forgets files that were deleted. Other storages than a folder list only the files of
// the window, so their files are forgotten when there are many.
func (f *fetching) forget() {
	if f.c.kind != inFolder && len(f.marks) < mostMarks/2 {
		return
	}
	for path := range f.marks {
		if !f.present[path] {
			delete(f.marks, path)
		}
	}
}

// outcome returns an error if no file could be read although there are files.
func (f *fetching) outcome() error {
	switch {
	case f.last != nil && f.good == 0:
		return f.last
	case f.c.kind == byURL && f.absent > 0 && f.absent == f.matched:
		return &ingest.BatchError{Reason: ingest.BadReply, Detail: fmt.Sprintf("none of %d files exists; check files.url", f.absent)}
	case (f.c.kind == byIndex || f.c.kind == inBucket) && f.listed > 0 && f.matched == 0:
		return &ingest.BatchError{Reason: ingest.BadReply, Detail: fmt.Sprintf("none of %d files matches files.name", f.listed)}
	}
	return nil
}

// refuse counts a file that cannot be read.
func (f *fetching) refuse(path string, err error) {
	f.last = fmt.Errorf("file %q: %w", path, err)
	text := f.Clean(f.last.Error())
	f.builder.Describe(func() (int64, string) { return 0, text })
	f.builder.RejectField(ingest.Unreadable, "")
	f.builder.Describe(nil)
}

// cleaned removes secrets from an error.
func (s *Source) cleaned(err error) error {
	if text := s.Clean(err.Error()); text != err.Error() {
		return &cleanError{err, text}
	}
	return err
}

// cleanError is an error without the secrets of its text.
type cleanError struct {
	err  error
	text string
}

// Error implements error.
func (e *cleanError) Error() string { return e.text }

// Unwrap returns the cause, so that errors.Is and errors.As see it.
func (e *cleanError) Unwrap() error { return e.err }
