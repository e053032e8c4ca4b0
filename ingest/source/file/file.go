package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"vayu/ingest"
	"vayu/ingest/source/file/table"
)

// File is one file as a source. To resume an import, open the file again at the position of the last stored batch.
type File struct {
	name   string
	path   string
	start  int64
	clock  func() time.Time
	format *format
	size   int64
	read   atomic.Int64
}

// Opener opens a file at a position, as [Open] does.
type Opener func(path string, position int64) (*File, error)

// Open detects the format of a file from its beginning. `name` becomes the field Source of the readings. `start` is the
// position at which Fetch begins: an [ingest.Batch.Position], or 0 for the whole file. `described` are the formats that
// descriptions (YAML) define. If no format fits, the error lists the known formats.
func Open(name, path string, start int64, clock func() time.Time, described []Format) (*File, error) {
	f := &File{name: name, path: path, start: start, clock: clock}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("opening a file: %w", err)
	}
	if !info.Mode().IsRegular() { // opening a pipe would block
		return nil, fmt.Errorf("opening %q: not a regular file", path)
	}
	f.size = info.Size()
	if f.format, err = recognise(f.source(context.Background()), described, clock()); err != nil {
		return nil, fmt.Errorf("opening %q: %w", path, err)
	}
	return f, nil
}

// Format returns the name of the format, e.g. "CAAQM table".
func (f *File) Format() string { return f.format.name }

// Size returns the file's size on disk, in bytes.
func (f *File) Size() int64 { return f.size }

// Read returns how many of the [File.Size] bytes have been read by the current Fetch, or by the last one. It is safe to
// call during Fetch.
func (f *File) Read() int64 { return f.read.Load() }

// Fetch reads the file from the start position to its end. It ignores the window. It implements [ingest.Source].
func (f *File) Fetch(ctx context.Context, _ ingest.Window, yield func(*ingest.Batch) error) error {
	if err := f.record(ctx); err != nil {
		return err
	}
	b := ingest.NewBuilder(f.name, f.clock(), yield)
	b.Observe(ctx)
	if err := f.format.parse(f.source(ctx), b); err != nil {
		b.Discard()
		return fmt.Errorf("reading %q (%s): %w", f.path, f.format.name, err)
	}
	return b.Close()
}

// record passes the bytes of the file to the recorder of the fetch. It is a separate pass, because parsers may read a
// file twice or not to its end.
func (f *File) record(ctx context.Context) error {
	recorder := ingest.RecorderOf(ctx)
	if recorder == nil {
		return nil
	}
	in, err := f.open(ctx)
	if err == nil {
		_, err = io.Copy(recorder, in)
		err = errors.Join(err, in.Close())
	}
	if err != nil {
		return fmt.Errorf("reading %q: %w", f.path, err)
	}
	return nil
}

func (f *File) source(ctx context.Context) *table.Input {
	return &table.Input{Path: f.path, Start: f.start, Open: func() (io.ReadCloser, error) { return f.open(ctx) }}
}

// open opens the file's raw bytes and resets the count of read bytes.
func (f *File) open(ctx context.Context) (io.ReadCloser, error) {
	disk, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	f.read.Store(0)
	return &counted{ctx: ctx, in: disk, read: &f.read}, nil
}

// counted is a reader that counts bytes. It returns an error once the context has ended.
type counted struct {
	ctx  context.Context
	in   *os.File
	read *atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.in.Read(p)
	c.read.Add(int64(n))
	return n, err
}

func (c *counted) Close() error { return c.in.Close() }
