package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"vayu/ingest"
	"vayu/ingest/fetch"
	"vayu/ingest/source/described/tabular"
	"vayu/ingest/source/file/table"
)

// Scan calls `visit` for each record of a file. Before each call it sets f to the record. `at` is the position of the
// record: its offset, or its number in a JSON document. f.Bad is true for a line that is not a record. `end` is the
// position after the last record. If the content is unreadable, the error is an [*ingest.BatchError].
func (r *Records) Scan(in *table.Input, f *Frame, visit func(at int64) error) (end int64, err error) {
	switch r.format {
	case formatCSV:
		return r.scanTable(in, f, visit)
	case formatNDJSON:
		return r.scanLines(in, f, visit)
	}
	text, err := in.Text()
	if err != nil {
		return 0, fmt.Errorf("opening the text: %w", err)
	}
	defer text.Close()
	body, err := io.ReadAll(table.Limit(text))
	if err != nil {
		return 0, fmt.Errorf("reading the text: %w", err)
	}
	if fetch.IsHTML(body) {
		return 0, ingest.BadReplyf("a web page (HTML) in place of JSON")
	}
	reply, err := r.Decode(body, func(s string) string { return s })
	if err != nil {
		return 0, err
	}
	_, err = r.walk(reply, f, func() error {
		end++
		return visit(end - 1)
	})
	return end, err
}

// scanTable does the same as [Records.Scan], for a table.
func (r *Records) scanTable(in *table.Input, f *Frame, visit func(at int64) error) (end int64, err error) {
	rows, err := r.table.Open(in)
	if err != nil {
		return 0, fmt.Errorf("reading the header: %w", err)
	}
	defer rows.Close()
	f.columns, f.decimal, f.describe = columnsOf(rows.Columns), r.table.Decimal, rows.Record
	f.header = rows.Columns
	for {
		cells, at, fine, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return at, nil
		}
		if err != nil {
			return at, fmt.Errorf("reading a row: %w", err)
		}
		f.texts, f.Bad = cells, !fine
		if !fine {
			f.texts = []string{}
		}
		if err := visit(at); err != nil {
			return at, err
		}
	}
}

// scanLines does the same as [Records.Scan], for a file with a JSON value on each line.
func (r *Records) scanLines(in *table.Input, f *Frame, visit func(at int64) error) (end int64, err error) {
	text, err := in.Text()
	if err != nil {
		return 0, fmt.Errorf("opening the text: %w", err)
	}
	defer text.Close()
	if head, _ := text.Peek(min(table.HeadBytes, text.Size())); fetch.IsHTML(head) {
		return 0, ingest.BadReplyf("a web page (HTML) in place of JSON")
	}
	lines := table.Lines{In: text.Reader}
	f.describe = lines.Record
	for {
		line, at, fine, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return lines.Offset, nil
		}
		if err != nil {
			return at, fmt.Errorf("reading a line: %w", err)
		}
		if fine && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var reply Reply
		if fine {
			reply, err = r.decode(bytes.Clone(line), func(s string) string { return s })
			fine = err == nil
		}
		if f.Bad = !fine; f.Bad {
			err = visit(at)
		} else {
			_, err = r.walk(reply, f, func() error { return visit(at) })
		}
		if err != nil {
			return at, err
		}
	}
}

// Table returns the format of the table that contains the records, or nil if the records are JSON.
func (r *Records) Table() *tabular.Format { return r.table }
