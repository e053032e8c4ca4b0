package audit

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"vayu/internal/httpapi"
	"vayu/schema"
)

const (
	csvType   = "text/csv"
	linesType = "application/x-ndjson"
	// csvTypeFull is the Content-Type of a CSV (RFC 4180, 3).
	csvTypeFull = csvType + "; charset=utf-8; header=present"
)

// exportPage is the number of rows that one query of an export reads. 500 rows have some hundred kilobytes, and
// the query takes about 2 ms.
const exportPage = 500

// export streams all rows of a selection, newest first. Rows that are appended during the export are left out.
func (l *Log) export(c *httpapi.Call, f *schema.RequestErrors, sel *selection, as string, params map[string]string) (httpapi.Response, error) {
	for _, name := range [...]string{"limit", "cursor"} {
		if _, there := params[name]; there {
			f.Add(name, "The parameter "+name+" is not allowed with "+as+", which returns all rows.")
		}
	}
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	write, typed := writeLine, linesType
	if as == csvType {
		write, typed = writeRecord, csvTypeFull
	}
	return httpapi.Response{Type: []string{typed}, Stream: func(out httpapi.Flusher) error {
		if as == csvType {
			if err := writeCSV(out, csvColumns); err != nil {
				return err
			}
		}
		at := sel.start()
		for next := &at; next != nil; {
			rows, behind, err := sel.page(l.DB.View(c.Context()), *next, exportPage)
			if err != nil {
				return err
			}
			for i := range rows {
				if err := write(out, &rows[i]); err != nil {
					return fmt.Errorf("writing audit row %d: %w", rows[i].seq, err)
				}
			}
			if err := out.Flush(); err != nil {
				return err
			}
			next = behind
		}
		return nil
	}}, nil
}

// writeLine writes a row as a line of JSON, in the form that a page of GET /v1/audit has.
func writeLine(w io.Writer, r *hashedRow) error {
	row, err := r.wire(r.hash)
	if err != nil {
		return err
	}
	line, err := json.Marshal(row)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// csvColumns is the header of a CSV.
var csvColumns = []string{"seq", "at", "actor", "action", "subject", "request_id", "client", "detail", "hash"}

// writeRecord writes a row as a CSV record; its detail is JSON.
func writeRecord(w io.Writer, r *hashedRow) error {
	row, err := r.wire(r.hash)
	if err != nil {
		return err
	}
	return writeCSV(w, []string{
		strconv.FormatInt(row.Seq, 10), row.At, inert(row.Actor), inert(row.Action), inert(row.Subject), inert(row.RequestID), inert(row.Client),
		inert(string(r.detail)), row.Hash,
	})
}

// writeCSV writes one record, which ends with CRLF (RFC 4180).
func writeCSV(w io.Writer, record []string) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if err := out.Write(record); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// inert prefixes an apostrophe to a text that a spreadsheet would evaluate as a formula.
func inert(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}
