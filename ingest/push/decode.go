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
	"vayu/internal/httpapi"
	"vayu/schema"
)

// Media types of bodies besides JSON.
const (
	ndjsonType = "application/x-ndjson"
	csvType    = "text/csv"
	arrowType  = "application/vnd.apache.arrow.stream"
)

// decode returns the rows of a body. A row that cannot be decoded has a fault. The error
// is a *schema.Problem: the body as a whole is invalid.
func decode(c *httpapi.Call) ([]row, error) {
	if len(c.Body) == 0 {
		return nil, schema.NewProblem(schema.InvalidRequest, "", "A body with readings is needed.")
	}
	switch c.BodyType {
	case ndjsonType:
		return decodeLines(c.Body)
	case csvType:
		return decodeCSV(c.Body)
	case arrowType:
		return decodeArrow(c.Body)
	}
	return decodeJSON(c.Body)
}

func tooMany() error {
	return schema.NewProblem(schema.PayloadTooLarge, "readings", fmt.Sprintf("A request has at most %d readings.", maxReadings))
}

func decodeJSON(body []byte) ([]row, error) {
	list, err := httpapi.DecodeObject[struct {
		Readings *[]jsontext.Value `json:"readings"`
	}](body)
	if err != nil {
		return nil, err
	}
	if list.Readings == nil {
		return nil, schema.NewProblem(schema.InvalidRequest, "readings", "The field readings, an array, is missing.")
	}
	if len(*list.Readings) > maxReadings {
		return nil, tooMany()
	}
	rows := make([]row, len(*list.Readings))
	for i, text := range *list.Readings {
		rows[i].decodeObject(text)
	}
	return rows, nil
}

// decodeObject sets the fields of r from a JSON object, or its fault.
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
	body = bytes.TrimRight(body, "\r\n \t")
	n := bytes.Count(body, []byte{'\n'}) + 1
	if n > maxReadings {
		return nil, tooMany()
	}
	rows := make([]row, 0, n)
	for line := range bytes.SplitSeq(body, []byte{'\n'}) {
		var r row
		r.decodeObject(bytes.TrimSpace(line))
		rows = append(rows, r)
	}
	return rows, nil
}

// columns are the names of CSV and Arrow columns, which are those of the JSON fields.
// Those up to `at` are required.
var columns = [...]string{"station", "parameter", "value", "unit", "at", "averaging_minutes", "latitude", "longitude", "name"}

// requiredColumns is the number of required columns, which come first.
const requiredColumns = 5

// columnIndexes returns the position of each of columns in names, -1 for an absent one.
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
			return at, schema.NewProblem(schema.InvalidRequest, column, "The column "+column+" is missing.")
		}
	}
	return at, nil
}

// decodeCSV decodes a table with a header line (RFC 4180). Columns may be in any order.
func decodeCSV(body []byte) ([]row, error) {
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))))
	in.ReuseRecord, in.FieldsPerRecord = true, -1
	header, err := in.Read()
	if err != nil {
		return nil, schema.NewProblem(schema.InvalidRequest, "", "The header line of the CSV cannot be read.")
	}
	width := len(header)
	at, err := columnIndexes(header)
	if err != nil {
		return nil, err
	}
	var rows []row
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if len(rows) == maxReadings {
			return nil, tooMany()
		}
		var r row
		switch {
		case err != nil:
			if _, ok := errors.AsType[*csv.ParseError](err); !ok {
				return nil, schema.NewProblem(schema.InvalidRequest, "", "The CSV cannot be read.")
			}
			r.fault = &fault{ingest.BadLine, "", "The line is not valid CSV."}
		case len(record) != width:
			r.fault = &fault{ingest.BadLine, "", fmt.Sprintf("The line has %d columns, but the header has %d.", len(record), width)}
		default:
			r.setCells(record, &at)
		}
		rows = append(rows, r)
	}
}

// setCells sets the fields of r from the cells of a CSV line, or its fault.
func (r *row) setCells(record []string, at *[len(columns)]int) {
	cell := func(column int) string {
		if at[column] < 0 {
			return ""
		}
		return strings.Clone(record[at[column]]) // the reader reuses the record
	}
	r.Station, r.Parameter, r.Unit, r.At, r.Name = cell(0), cell(1), cell(3), cell(4), cell(8)
	for column, into := range map[int]**float64{2: &r.Value, 6: &r.Latitude, 7: &r.Longitude} {
		text := cell(column)
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			*r = row{fault: &fault{ingest.BadNumber, columns[column], "The text is not a number."}}
			return
		}
		*into = &v
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
