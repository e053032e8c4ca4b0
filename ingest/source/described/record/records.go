package record

import (
	"bytes"
	"io"

	"github.com/tidwall/gjson"

	"vayu/ingest/source/described/tabular"
	"vayu/ingest/source/file/table"
	"vayu/internal/config/section"
)

// Shapes of the records in a JSON reply.
const (
	ShapeList   = "list"   // a list of objects
	ShapeTable  = "table"  // a list of rows (lists), with the names of the columns elsewhere in the reply
	ShapeMap    = "map"    // an object whose values are the records
	ShapeObject = "object" // one record
)

// Formats of a reply or file.
const (
	formatJSON   = "json"
	formatNDJSON = "ndjson" // a JSON text in each line
	formatCSV    = "csv"
)

// Records defines where the records are in a reply or a file, and their form.
type Records struct {
	At      string // path of the records; @this if they are the whole reply
	Shape   string
	Columns string // path of the names of the columns, for ShapeTable; "" for other shapes
	Each    string // path of a list inside a record; "" for none

	format string
	table  *tabular.Format // for formatCSV
	fault  string          // path of an error message; an API may reply with an error and status 200
}

// Read reads the keys `format`, `csv`, `records`, `shape`, `columns`, `each` and `error-message` of a section.
func Read(s *section.Section) Records {
	csv, format := s.Section("csv"), formatJSON
	if csv.Present() {
		format = formatCSV
	}
	if format = s.Choice("format", format, formatJSON, formatNDJSON, formatCSV); format == formatCSV {
		for _, key := range []string{"records", "shape", "columns", "each", "error-message"} {
			if s.Node(key) != nil {
				s.Faultf(key, "belongs to JSON; each line of a table is a record")
			}
		}
		return Records{format: format, table: tabular.Read(csv)}
	}
	if csv.Present() {
		s.Faultf("csv", "belongs to format: csv")
	}
	r := Records{
		format: format, At: "@this", Shape: ShapeObject,
		Each: s.Text("each"), Columns: s.Text("columns"), fault: s.Text("error-message"),
	}
	whole := format != formatJSON || s.Section("mqtt").Present()
	if !whole || s.Node("records") != nil { // by default, a line of NDJSON or a message is a record
		r.At, r.Shape = s.Required("records"), ShapeList
	}
	r.Shape = s.Choice("shape", r.Shape, ShapeList, ShapeTable, ShapeMap, ShapeObject)
	if (r.Columns != "") != (r.Shape == ShapeTable) {
		s.Faultf("columns", "is the path of the columns' names, and belongs to shape: table")
	}
	return r
}

// Reply is a decoded reply.
type Reply struct {
	root    gjson.Result
	records gjson.Result
	raw     string // JSON of the records, or the whole text of other formats
	body    []byte // text of a table or of JSON lines; nil for JSON
	empty   bool   // body has no record
}

// Raw returns the text of the records. It serves to detect repeated pages.
func (r Reply) Raw() string { return r.raw }

// Empty reports whether the reply has no records.
func (r Reply) Empty() bool {
	if r.body != nil {
		return r.empty
	}
	empty := true
	r.records.ForEach(func(_, _ gjson.Result) bool {
		empty = false
		return false
	})
	return empty
}

// Text returns the text of a field of the reply, such as a cursor, or "" if the field is missing.
func (r Reply) Text(at string) string { return scalar(r.root.Get(at)) }

// Walk calls `visit` with a frame for each record. The frame is valid only during the call. `count` is the number of
// visited records, even if `visit` returns an error.
func (r *Records) Walk(reply Reply, part map[string]string, visit func(*Frame) error) (count int, err error) {
	f := Frame{Part: part}
	if reply.body != nil {
		in := &table.Input{Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(reply.body)), nil }}
		_, err := r.Scan(in, &f, func(int64) error {
			count++
			return visit(&f)
		})
		return count, err
	}
	return r.walk(reply, &f, func() error { return visit(&f) })
}

// walk does the same as [Records.Walk], for a JSON reply.
func (r *Records) walk(reply Reply, f *Frame, visit func() error) (count int, err error) {
	f.reply = reply.root
	if r.Shape == ShapeTable {
		var names []string
		for _, name := range reply.root.Get(r.Columns).Array() {
			names = append(names, name.String())
		}
		f.columns = columnsOf(names)
	}
	if r.Shape == ShapeObject {
		f.record = reply.records
		return 1, visit()
	}
	reply.records.ForEach(func(key, value gjson.Result) bool {
		count++
		f.record, f.key = value, key.String()
		if f.columns != nil {
			f.cells = value.Array()
		}
		err = visit()
		return err == nil
	})
	return count, err
}

// WalkEach calls `visit` for each element of the list at the path r.Each. If r.Each is "", it calls `visit` once. The
// result `seen` is false if the record lacks the list.
func (r *Records) WalkEach(f *Frame, visit func() error) (seen bool, err error) {
	if r.Each == "" {
		return true, visit()
	}
	list := f.find(ParsePath(r.Each))
	list.ForEach(func(_, value gjson.Result) bool {
		f.each = value
		err = visit()
		return err == nil
	})
	return list.IsArray(), err
}
