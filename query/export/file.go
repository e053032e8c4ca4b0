package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// WriteFile writes the file at `path`, and returns its number of rows. If an interrupted run has left the file's
// beginning in FILE.partial, and FILE.partial.version names the present version of the data, WriteFile continues it.
func (e *Export) WriteFile(ctx context.Context, path string, progress *Progress) (rows uint64, err error) {
	partial, version := path+".partial", path+".partial.version"
	offset := int64(0)
	if tag, err := os.ReadFile(version); err == nil && string(tag) == e.Tag {
		if info, err := os.Stat(partial); err == nil {
			offset = info.Size()
		}
	}
	if err := os.WriteFile(version, []byte(e.Tag), 0o644); err != nil { //nolint:gosec // as readable as any file of the user
		return 0, err
	}
	file, err := os.OpenFile(partial, os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // the same
	if err != nil {
		return 0, err
	}
	err = file.Truncate(offset)
	if err == nil {
		_, err = file.Seek(offset, io.SeekStart)
	}
	if offset > 0 {
		_, _ = fmt.Fprintf(progress.Out, "continuing %s at byte %d\n", partial, offset)
	}
	if err == nil {
		progress.Bytes = offset
		rows, err = e.Write(ctx, progress.Count(file), offset)
	}
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return rows, err
	}
	if err := os.Rename(partial, path); err != nil {
		return rows, err
	}
	return rows, os.Remove(version)
}

// Progress prints the number of written bytes to Out once a second.
type Progress struct {
	Out   io.Writer
	Rows  uint64 // of the whole file
	Bytes int64  // that were written
	Began time.Time
	shown time.Time
}

// Count returns a writer that counts the bytes and passes them on to w.
func (p *Progress) Count(w io.Writer) io.Writer { return &progressWriter{w, p} }

type progressWriter struct {
	w io.Writer
	p *Progress
}

// Write implements io.Writer.
func (w *progressWriter) Write(b []byte) (int, error) {
	n, err := w.w.Write(b)
	p := w.p
	p.Bytes += int64(n)
	if now := time.Now(); now.Sub(p.shown) >= time.Second && now.Sub(p.Began) >= time.Second {
		p.shown = now
		_, _ = fmt.Fprintf(p.Out, "%.1f MB of about %d rows written\n", float64(p.Bytes)/1e6, p.Rows)
	}
	return n, err
}
