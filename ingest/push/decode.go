package push

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"vayu/ingest"
	"vayu/schema"
)

// Media types of text bodies besides JSON.
const (
	ndjsonType = "application/x-ndjson"
	csvType    = "text/csv"
)

// maxLine is the length of the longest accepted line of NDJSON and CSV, in bytes.
const maxLine = 4 << 10

// decode returns the rows of a body. mediaType is the media type of the body, or "" for JSON. A row that cannot be
// decoded has a fault. If the body as a whole is invalid, the error is a *schema.Problem.
func decode(mediaType string, body []byte) ([]row, error) {
	if len(body) == 0 {
		return nil, schema.NewProblem(schema.InvalidRequest, "", "The body is empty. Send readings.")
	}
	switch mediaType {
	case ndjsonType:
		return decodeLines(body)
	case csvType:
		return decodeCSV(body)
	case arrowType:
		return decodeArrow(body)
	}
	return decodeJSON(body)
}

func tooMany() error {
	return schema.NewProblem(schema.PayloadTooLarge, "readings", fmt.Sprintf("A request has at most %d readings.", maxReadings))
}

// decodeJSON decodes an object with the array `readings`. It ignores other fields.
func decodeJSON(body []byte) ([]row, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	if d.PeekKind() != jsontext.KindBeginObject {
		return nil, schema.NewProblem(schema.InvalidJSON, "", "The body must be a JSON object.")
	}
	rows, found, err := decodeMembers(d)
	if err == nil {
		if _, err = d.ReadToken(); errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			err = schema.NewProblem(schema.InvalidJSON, "", "The body has data after its JSON object.")
		}
	}
	if _, ours := errors.AsType[*schema.Problem](err); err != nil && !ours {
		err = schema.NewProblem(schema.InvalidJSON, "", fmt.Sprintf("The body is not valid JSON in UTF-8: see byte %d.", d.InputOffset()))
	}
	if err == nil && !found {
		err = schema.NewProblem(schema.InvalidRequest, "readings", "The field readings, an array, is missing.")
	}
	return rows, err
}

// decodeMembers reads the members of an object. `found` reports whether the object has the field `readings`.
func decodeMembers(d *jsontext.Decoder) (rows []row, found bool, err error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, false, err
	}
	for d.PeekKind() != jsontext.KindEndObject {
		name, err := d.ReadToken()
		if err != nil {
			return nil, false, err
		}
		if name.String() != "readings" {
			if err := d.SkipValue(); err != nil {
				return nil, false, err
			}
			continue
		}
		found = true
		if rows, err = decodeArray(d); err != nil {
			return nil, true, err
		}
	}
	_, err = d.ReadToken()
	return rows, found, err
}

// decodeArray decodes the array of readings. More than maxReadings elements are an error.
func decodeArray(d *jsontext.Decoder) (rows []row, err error) {
	if kind := d.PeekKind(); kind != jsontext.KindBeginArray && kind != jsontext.KindInvalid {
		return nil, schema.NewProblem(schema.InvalidRequest, "readings", "The field readings must be an array.")
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != jsontext.KindEndArray {
		if len(rows) == maxReadings {
			return nil, tooMany()
		}
		text, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		var r row
		r.decodeObject(text)
		rows = append(rows, r)
	}
	_, err = d.ReadToken()
	return rows, err
}

// decodeObject sets the fields of r from a JSON object. If that fails, it sets only r.fault.
func (r *row) decodeObject(text []byte) {
	err := json.Unmarshal(text, r)
	if err == nil {
		return
	}
	*r = row{fault: &fault{ingest.BadLine, "", "The reading is not a JSON object."}}
	if e, ok := errors.AsType[*json.SemanticError](err); ok && e.JSONPointer != "" {
		field := strings.TrimPrefix(string(e.JSONPointer), "/")
		r.fault.field, r.fault.message = field, "The field "+field+" has the wrong type."
	}
}

// decodeLines decodes NDJSON, one reading on each line. It ignores empty lines at the end.
func decodeLines(body []byte) ([]row, error) {
	var rows []row
	for line := range bytes.SplitSeq(bytes.TrimRight(body, "\r\n \t"), []byte{'\n'}) {
		if len(rows) == maxReadings {
			return nil, tooMany()
		}
		var r row
		if len(line) > maxLine {
			r.fault = errLongLine
		} else {
			r.decodeObject(bytes.TrimSpace(line))
		}
		r.raw = line
		rows = append(rows, r)
	}
	return rows, nil
}

var errLongLine = &fault{ingest.BadLine, "", fmt.Sprintf("The line has more than %d bytes.", maxLine)}

// columns are the names of the columns of CSV and Arrow. They equal the names of the JSON fields.
var columns = [...]string{"station", "parameter", "value", "unit", "at", "averaging_minutes", "latitude", "longitude", "name"}

// requiredColumns is the number of required columns. They come first in the list `columns`.
const requiredColumns = 5

// columnIndexes returns the position of each known column in a header line, or -1 for an absent column. A repeated
// column, or an absent required one, is an error.
func columnIndexes(names []string) (at [len(columns)]int, err error) {
	for i := range at {
		at[i] = -1
	}
	for position, name := range names {
		for i, column := range columns {
			if column != name {
				continue
			}
			if at[i] >= 0 {
				return at, schema.NewProblem(schema.InvalidRequest, name, "The column "+name+" occurs twice.")
			}
			at[i] = position
		}
	}
	for i, column := range columns[:requiredColumns] {
		if at[i] < 0 {
			return at, missingColumn(column)
		}
	}
	return at, nil
}

// decodeCSV decodes a table with a header line. Columns may be in any order. A cell cannot contain a line break, so an
// unbalanced quote affects only its own line.
func decodeCSV(body []byte) ([]row, error) {
	body = bytes.TrimRight(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), "\r\n")
	header, rest, _ := strings.Cut(string(body), "\n")
	names, err := cells(header)
	if err != nil {
		return nil, schema.NewProblem(schema.InvalidRequest, "", "The header line of the CSV cannot be read.")
	}
	at, err := columnIndexes(names)
	if err != nil || rest == "" {
		return nil, err
	}
	var rows []row
	for line := range strings.SplitSeq(rest, "\n") {
		if len(rows) == maxReadings {
			return nil, tooMany()
		}
		var r row
		switch record, err := cells(line); {
		case len(line) > maxLine:
			r.fault = errLongLine
		case err != nil:
			r.fault = &fault{ingest.BadLine, "", "The line is not valid CSV."}
		case len(record) != len(names):
			r.fault = &fault{ingest.BadLine, "", fmt.Sprintf("The line has %d columns, but the header has %d.", len(record), len(names))}
		default:
			r.setCells(record, &at)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// cells splits a line of CSV (RFC 4180) at its commas. A line of more than maxLine bytes is an error.
func cells(line string) ([]string, error) {
	line = strings.TrimSuffix(line, "\r")
	if len(line) > maxLine {
		return nil, csv.ErrFieldCount
	}
	if !strings.Contains(line, `"`) {
		return strings.Split(line, ","), nil
	}
	return csv.NewReader(strings.NewReader(line)).Read()
}

// setCells sets the fields of r from the cells of a CSV line, or r.fault if a cell is invalid.
func (r *row) setCells(record []string, at *[len(columns)]int) {
	cell := func(column int) string {
		if at[column] < 0 {
			return ""
		}
		return record[at[column]]
	}
	r.Station, r.Parameter, r.Unit, r.At, r.Name = cell(0), cell(1), cell(3), cell(4), cell(8)
	for _, number := range [...]struct {
		column int
		field  **float64
	}{{2, &r.Value}, {6, &r.Latitude}, {7, &r.Longitude}} {
		text := cell(number.column)
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			*r = row{fault: &fault{ingest.BadNumber, columns[number.column], "The text is not a number."}}
			return
		}
		*number.field = &v
	}
	if text := cell(5); text != "" {
		minutes, err := strconv.Atoi(text)
		if err != nil {
			*r = row{fault: &fault{ingest.BadNumber, columns[5], "The text is not a whole number."}}
			return
		}
		r.Averaging = &minutes
	}
}
