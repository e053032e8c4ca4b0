package push

import (
	"errors"
	"time"

	"vayu/ingest"
	"vayu/ingest/arrowstream"
	"vayu/schema"
)

// arrowType is the media type of an Arrow IPC stream.
const arrowType = "application/vnd.apache.arrow.stream"

// decodeArrow decodes the rows of an Arrow stream. The columns have the names of the JSON fields. The column `at` has
// timestamps with a time zone, or texts in RFC 3339.
func decodeArrow(body []byte) ([]row, error) {
	var rows []row
	err := arrowstream.Read(body, columns[:], func(b *arrowstream.Batch) error {
		for _, name := range columns[:requiredColumns] {
			if !b.Has(name) {
				return missingColumn(name)
			}
		}
		if b.Rows() > maxReadings-len(rows) {
			return tooMany()
		}
		for i := range b.Rows() {
			rows = append(rows, arrowRow(b, i))
		}
		return nil
	})
	if wrong, ok := errors.AsType[*arrowstream.Error](err); ok {
		return nil, schema.NewProblem(schema.InvalidRequest, wrong.Column, wrong.Message)
	}
	return rows, err
}

func missingColumn(name string) error {
	return schema.NewProblem(schema.InvalidRequest, name, "The column "+name+" is missing.")
}

// arrowRow decodes a row. If a value has the wrong type, the returned row has only a `fault`.
func arrowRow(b *arrowstream.Batch, i int) row {
	var r row
	for _, text := range [...]struct {
		column string
		field  *string
	}{{"station", &r.Station}, {"parameter", &r.Parameter}, {"unit", &r.Unit}, {"name", &r.Name}} {
		switch v := b.Value(text.column, i).(type) {
		case nil:
		case string:
			*text.field = v
		default:
			return wrongType(text.column)
		}
	}
	for _, number := range [...]struct {
		column string
		field  **float64
	}{{"value", &r.Value}, {"latitude", &r.Latitude}, {"longitude", &r.Longitude}} {
		switch v := b.Value(number.column, i).(type) {
		case nil:
		case float64:
			*number.field = &v
		case int64:
			f := float64(v)
			*number.field = &f
		default:
			return wrongType(number.column)
		}
	}
	switch v := b.Value("averaging_minutes", i).(type) {
	case nil:
	case int64:
		minutes := int(v)
		r.Averaging = &minutes
	case float64: // table libraries convert a column of integers to floats if values are missing
		minutes := int(v)
		if float64(minutes) != v {
			return wrongType("averaging_minutes")
		}
		r.Averaging = &minutes
	default:
		return wrongType("averaging_minutes")
	}
	switch v := b.Value("at", i).(type) {
	case nil:
	case string:
		r.At = v
	case time.Time:
		r.instant = v
	case arrowstream.Local:
		return row{fault: &fault{ingest.BadTime, "at", "The timestamps have no time zone. Set one, such as UTC."}}
	default:
		return wrongType("at")
	}
	return r
}

// wrongType returns a row that is rejected because of a field of the wrong type.
func wrongType(field string) row {
	return row{fault: &fault{ingest.BadLine, field, "The field " + field + " has the wrong type."}}
}
