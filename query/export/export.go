package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"vayu/query/dataset"
)

// formVersion is increased by each change of this program after which equal rows yield other bytes.
const formVersion = 1

// Export is the content of a file in one version of the data.
type Export struct {
	reader *dataset.Reader
	format dataset.Format
	schema *arrow.Schema
	months []dataset.Month

	Rows uint64
	// Tag names the version: equal tags mean equal bytes. It is hexadecimal.
	Tag string
	// Changed is when the latest of the rows was written, and zero if that is unknown.
	Changed  time.Time
	Licences []dataset.Licence
}

// Open reads which rows a request selects, and their version. It reads no values.
func Open(ctx context.Context, conn dataset.Conn, database string, r Request) (*Export, error) {
	reader, err := dataset.NewReader(ctx, conn, database, r.Selection)
	if err != nil {
		return nil, err
	}
	e := &Export{reader: reader, format: r.Format}
	if e.months, err = reader.Months(ctx); err != nil {
		return nil, err
	}
	if e.Licences, err = reader.Licences(ctx); err != nil {
		return nil, err
	}
	for _, m := range e.months {
		e.Rows += m.Rows
		if m.Changed.After(e.Changed) {
			e.Changed = m.Changed
		}
	}
	facts := maps.Clone(r.facts)
	text, err := json.Marshal(e.Licences)
	if err != nil {
		return nil, fmt.Errorf("writing the licences: %w", err)
	}
	facts["vayu:licences"] = string(text)
	e.schema = dataset.Schema(reader.Columns, facts)
	e.Tag = e.tag()
	return e, nil
}

// tag returns a hash of everything that decides about the bytes of the file.
func (e *Export) tag() string {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, formVersion, e.format.Name, e.schema) // a hash never fails
	for _, m := range e.months {
		_, _ = fmt.Fprintln(h, m.Month, m.Rows, m.Hash)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// ErrChanged means that the data have changed since the beginning of a file, which can therefore not be continued.
var ErrChanged = errors.New("the data have changed since the export began")

// Write writes the file from an offset on. Bytes before the offset are made again and dropped. For an offset above 0,
// the error is ErrChanged if the data have changed since Open. Nothing is written then.
func (e *Export) Write(ctx context.Context, w io.Writer, offset int64) error {
	rest := &skipper{w: w, left: offset}
	if offset > 0 {
		// Rows around the offset have arrived when this runs. So the bytes before it are those of the version.
		rest.reached = func() error { return e.unchanged(ctx) }
	}
	out, err := e.format.New(rest, e.schema)
	if err != nil {
		return err
	}
	if err := e.reader.Each(ctx, e.schema, e.months, out.Write); err != nil {
		return err
	}
	return out.Close()
}

// unchanged returns ErrChanged unless the data still have the version.
func (e *Export) unchanged(ctx context.Context) error {
	now := *e
	var err error
	if now.months, err = e.reader.Months(ctx); err != nil {
		return err
	}
	if now.tag() != e.Tag {
		return ErrChanged
	}
	return nil
}

// Size returns the number of bytes of the file. It takes as long as writing the file.
func (e *Export) Size(ctx context.Context) (int64, error) {
	var n counter
	err := e.Write(ctx, &n, 0)
	return int64(n), err
}

// counter counts bytes.
type counter int64

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// skipper drops the first bytes.
type skipper struct {
	w       io.Writer
	left    int64        // bytes that are still to be dropped
	reached func() error // called once before the first byte is written; nil for nothing
}

// Write implements io.Writer.
func (s *skipper) Write(p []byte) (int, error) {
	drop := min(s.left, int64(len(p)))
	s.left -= drop
	if drop == int64(len(p)) {
		return len(p), nil
	}
	if s.reached != nil {
		if err := s.reached(); err != nil {
			return 0, err
		}
		s.reached = nil
	}
	n, err := s.w.Write(p[drop:])
	return int(drop) + n, err
}
