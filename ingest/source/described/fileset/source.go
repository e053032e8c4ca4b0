package fileset

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/fetch"
	"vayu/ingest/source/described/storage"
	"vayu/ingest/source/file/table"
)

// Params are the parameters of a source that are not keys of the section `files`.
type Params struct {
	Name     string // field Source of the readings
	Lookback time.Duration
	// Lag is the time by which a record's time may precede the end of its averaging interval. It is the longest
	// interval if records state the start of their interval, otherwise 0.
	Lag    time.Duration
	Client storage.Client
	Web    storage.Web         // only Header, Query and Clean are set
	Clean  func(string) string // removes secrets from a text
	Clock  func() time.Time
	// Begin returns the partitions of a window, and the function that reads the files of the fetch. It returns no
	// partitions if the place of the files does not depend on a partition.
	Begin func(ctx context.Context, w ingest.Window) ([]map[string]string, ReadFile, error)
}

// ReadFile adds the readings of a file to a builder, and returns their number. `file` has the fields in the name of the
// file, and `part` has the fields of its partition. ReadFile may open the file twice.
type ReadFile func(in *table.Input, file, part map[string]string, b *ingest.Builder) (int, error)

// Source reads the files in a storage. It reads a file again only if the file has changed.
type Source struct {
	Params

	c       *Config
	storage storage.Storage
	// marks has the version of each file that has been read, by path.
	marks map[string]string
	// again has the files that an earlier fetch could not open, by path. The next fetch tries them again.
	again map[string]task
}

// task is a file that a fetch must read.
type task struct {
	storage.Object

	file, part map[string]string
	known      string    // version that has been read; "" for none
	failed     time.Time // when the file first could not be opened; zero if that has not happened
}

const (
	// storeAfter is the number of readings after which the fetch yields them. It yields only between two files.
	storeAfter = 50_000
	// After a fetch has listed at least `chunk` new files, it reads them before it lists further dates or partitions.
	chunk = 1000
	// mostTasks is the largest number of listed files that a fetch keeps before it reads them. It bounds the memory.
	// The next fetch reads the files beyond that number.
	mostTasks = 100_000
	// maxConsecutive unopenable files in a row fail the fetch, because the storage has then probably failed.
	maxConsecutive = 5
	// maxAgain is how long fetches try again to open a file, counted from the first attempt that failed.
	maxAgain = 7 * 24 * time.Hour
	// mostAgain is the largest number of files that later fetches try again to open.
	mostAgain = 10_000
	// mostMarks is the largest number of files whose versions are kept in memory.
	mostMarks = 1_000_000
)

// New returns a source that reads the files that the section `files` defines.
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

// Fetch yields the readings in the new and changed files of a window. If neither the place nor the names of the files
// have dates, every file belongs to every window. A file that Fetch cannot read counts as [ingest.Unreadable]. Later
// fetches skip the file until it changes. But the next fetch retries a file that could not be downloaded or opened.
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
		return fetch.WithoutSecrets(fmt.Errorf("reading the files of source %q: %w", s.Name, err), s.Clean)
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

	readings int    // number of readings in builder
	done     []mark // files that have been read since the last pass
	present  map[string]bool
	tried    map[string]bool // files that an earlier fetch could not open, and that this fetch has tried again

	listed, matched   int
	absent            int // number of files that do not exist
	good, consecutive int
	last              error // last error about a file
}

// mark is a file with its version.
type mark struct{ path, version string }

// begin starts a new builder. If there is an earlier one, [ingest.Builder.Continue] copies its state to the new one.
func (f *fetching) begin(ctx context.Context) {
	earlier := f.builder
	f.builder = ingest.NewBuilder(f.Name, f.now, f.yield)
	f.builder.Observe(ctx)
	if earlier != nil {
		f.builder.Continue(earlier)
	}
}

// pass yields the readings in the builder. If they are accepted, it marks the files of these readings as read.
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

// late returns the files that earlier fetches could not open, if the first attempt was less than maxAgain ago.
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

// list lists the files for a partition and a date, and appends the new and changed ones to tasks.
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

// address returns the place of the files for a partition and a date: a URL, or the path or prefix in the storage.
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

// match returns the fields in the path of a file, or false if the path does not match files.name. The result also has
// the fields `path` and `name`, and the fields in `date`: those of the date in the file's folder, prefix or URL.
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

// forget removes the marks of files that this fetch has not listed. In a folder, such files no longer exist. Other
// storages list only the files of the window, so unlisted files may still exist. For these storages, forget removes
// marks only if there are at least mostMarks/2 marks.
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

// outcome returns the last error if no file could be read. It also returns an error if the description seems to name
// the wrong files.
func (f *fetching) outcome() error {
	switch {
	case f.last != nil && f.good == 0:
		return f.last
	case f.c.kind == byURL && f.absent > 0 && f.absent == f.matched:
		return ingest.BadReplyf("none of %d files exists; check files.url", f.absent)
	case (f.c.kind == byIndex || f.c.kind == inBucket) && f.listed > 0 && f.matched == 0:
		return ingest.BadReplyf("none of %d files matches files.name", f.listed)
	}
	return nil
}

// refuse counts an unreadable file as rejected, and stores the error of the file in f.last for the method `outcome`.
func (f *fetching) refuse(path string, err error) {
	f.last = fmt.Errorf("file %q: %w", path, err)
	text := f.Clean(f.last.Error())
	f.builder.Describe(func() (int64, string) { return 0, text })
	f.builder.RejectField(ingest.Unreadable, "")
	f.builder.Describe(nil)
}
