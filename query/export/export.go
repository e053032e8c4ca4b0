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
	"slices"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"vayu/query/dataset"
)

// formVersion is part of the tag. Increase it if a program change makes the same rows give different bytes.
const formVersion = 1

// Export is an export file that has not been written yet. It belongs to one version of the data.
type Export struct {
	reader *dataset.Reader
	format dataset.Format
	schema *arrow.Schema
	months []dataset.Month

	Rows uint64
	// Tag identifies the version of the data: equal tags mean equal bytes of the file. It is hexadecimal.
	Tag string
	// Changed is the time at which the latest of the rows was written; zero if it is unknown.
	Changed  time.Time
	Licences []dataset.Licence
}

// Open determines the version of the rows that a request selects. It does not read the rows.
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

// tag returns a hash of everything that determines the bytes of the file.
func (e *Export) tag() string {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, formVersion, e.format.Name, e.schema) // a hash never fails
	for _, m := range e.months {
		_, _ = fmt.Fprintln(h, m.Month, m.Rows, m.Hash)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// ErrChanged means that the data have changed since the beginning of the file was written. Then the file cannot be
// completed.
var ErrChanged = errors.New("the data have changed since the export began")

// Write writes the file from the given offset to the end, and returns the number of rows of the whole file. It
// computes the bytes before the offset again and drops them. If the data have changed since Open, Write returns
// ErrChanged and leaves the file incomplete. If `offset` is 0, changes of the last month are no error (see oneMoment).
func (e *Export) Write(ctx context.Context, w io.Writer, offset int64) (rows uint64, err error) {
	rest := &skipper{w: w, left: offset}
	check := e.oneMoment
	if offset > 0 {
		// reached is called after the rows up to the offset were read. If the data are unchanged at that time, the
		// dropped bytes equal those that the client already has.
		rest.reached = func() error { return e.unchanged(ctx) }
		check = e.unchanged
	}
	out, err := e.format.New(rest, e.schema)
	if err != nil {
		return 0, err
	}
	err = e.reader.Each(ctx, e.schema, e.months, func(record arrow.Record) error {
		rows += uint64(record.NumRows())
		return out.Write(record)
	})
	if err == nil {
		err = check(ctx)
	}
	if err != nil {
		return rows, err
	}
	return rows, out.Close()
}

// oneMoment returns ErrChanged if a month before the last one has changed since Open. Otherwise the file shows the data
// as of one instant: the start of the query that read the last month. New readings usually change only the last month,
// and therefore do not fail an export.
func (e *Export) oneMoment(ctx context.Context) error {
	if len(e.months) < 2 {
		return nil
	}
	now, err := e.reader.Months(ctx)
	if err != nil {
		return err
	}
	before := e.months[:len(e.months)-1]
	if len(now) < len(before) || !slices.EqualFunc(before, now[:len(before)], dataset.Month.Equal) {
		return ErrChanged
	}
	return nil
}

// unchanged returns ErrChanged if the data have changed since Open.
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

// Size returns the size of the file in bytes. It takes as long as writing the file.
func (e *Export) Size(ctx context.Context) (int64, error) {
	var n counter
	_, err := e.Write(ctx, &n, 0)
	return int64(n), err
}

// counter is a writer that counts bytes.
type counter int64

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// skipper is a writer that drops a number of bytes at the beginning.
type skipper struct {
	w       io.Writer
	left    int64        // bytes that are still to be dropped
	reached func() error // called once before the first byte is written to w, may be nil
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
