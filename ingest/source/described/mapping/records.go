package mapping

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"

	"vayu/ingest"
	"vayu/internal/config/section"
)

// Shapes of the records in a reply.
const (
	ShapeList   = "list"   // a list of objects
	ShapeTable  = "table"  // a list of lists, with the names of the columns beside it
	ShapeMap    = "map"    // an object whose values are the records
	ShapeObject = "object" // one record
)

// Records locates the records of a reply.
type Records struct {
	At      string // path; @this if the reply is the list
	Shape   string
	Columns string // path of the columns' names in a table; empty for other shapes
	Each    string // list inside a record; empty for none

	fault string // path of an error message in a reply with status 200
}

// ReadRecords reads the keys records, shape, columns, each and error-message.
func ReadRecords(s *section.Section) Records {
	r := Records{
		At:    s.Required("records"),
		Shape: s.Choice("shape", ShapeList, ShapeList, ShapeTable, ShapeMap, ShapeObject),
		Each:  s.Text("each"), Columns: s.Text("columns"), fault: s.Text("error-message"),
	}
	if (r.Columns != "") != (r.Shape == ShapeTable) {
		s.Faultf("columns", "is the path of the columns' names, and belongs to shape: table")
	}
	return r
}

// Reply is a decoded reply.
type Reply struct {
	root    gjson.Result
	records gjson.Result
	raw     string // JSON of the records
}

// Raw returns the JSON of the records. Equal pages have an equal Raw.
func (r Reply) Raw() string { return r.raw }

// Empty reports whether the reply has no records.
func (r Reply) Empty() bool {
	empty := true
	r.records.ForEach(func(_, _ gjson.Result) bool {
		empty = false
		return false
	})
	return empty
}

// Text returns the text of a field of the reply, such as a cursor; "" for none.
func (r Reply) Text(at string) string { return scalar(r.root.Get(at)) }

// bom is the byte order mark that servers in .NET write.
var bom = []byte("\xef\xbb\xbf")

// Decode decodes a body. The error is an [*ingest.BatchError] for a body that is invalid,
// lacks the records, or has an error message. The error quotes that message without
// secrets, which the function clean removes.
func (r *Records) Decode(body []byte, clean func(string) string) (Reply, error) {
	body = bytes.TrimPrefix(body, bom)
	if !utf8.Valid(body) {
		return Reply{}, refuse("the reply is not UTF-8")
	}
	// This parser limits the nesting and rejects duplicate names. gjson does neither.
	if !jsontext.Value(body).IsValid() {
		return Reply{}, refuse("the reply is not JSON, is cut off, or holds a name twice")
	}
	root := gjson.ParseBytes(body)
	if r.fault != "" {
		if message := root.Get(r.fault); message.Exists() {
			return Reply{}, refuse(fmt.Sprintf("the API reports an error: %.200q", clean(scalar(message))))
		}
	}
	records := root.Get(r.At)
	if r.Shape == ShapeList || r.Shape == ShapeTable {
		if !records.IsArray() {
			return Reply{}, refuse(fmt.Sprintf("the reply has no list %q (key records)", r.At))
		}
	} else if !records.IsObject() {
		return Reply{}, refuse(fmt.Sprintf("the reply has no object %q (key records)", r.At))
	}
	return Reply{root, records, records.Raw}, nil
}

// Walk calls visit with a frame for each record. The frame is valid during the call
// only. count is the number of records. It is valid even if visit returns an error.
func (r *Records) Walk(reply Reply, part map[string]string, visit func(*Frame) error) (count int, err error) {
	f := Frame{reply: reply.root, part: part}
	if r.Shape == ShapeTable {
		f.columns = make(map[string]int)
		for i, name := range reply.root.Get(r.Columns).Array() {
			f.columns[name.String()] = i
		}
	}
	if r.Shape == ShapeObject {
		f.record = reply.records
		return 1, visit(&f)
	}
	reply.records.ForEach(func(key, value gjson.Result) bool {
		count++
		f.record, f.key = value, key.String()
		if f.columns != nil {
			f.cells = value.Array()
		}
		err = visit(&f)
		return err == nil
	})
	return count, err
}

// walkEach calls visit for each element of the list at the path r.Each, or once if that
// path is empty. seen is false if the record lacks the list.
func (r *Records) walkEach(f *Frame, visit func() error) (seen bool, err error) {
	if r.Each == "" {
		return true, visit()
	}
	list := f.find(parsePath(r.Each))
	list.ForEach(func(_, value gjson.Result) bool {
		f.each = value
		err = visit()
		return err == nil
	})
	return list.IsArray(), err
}

func refuse(detail string) error {
	return &ingest.BatchError{Reason: ingest.BadReply, Detail: strings.ToValidUTF8(detail, "?")}
}
