package push_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"vayu/schema"
)

const arrowType = "application/vnd.apache.arrow.stream"

// utc is the type of the column `at`.
var utc = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}

// arrowFields are the columns of arrowStream, with another type for the column `at`.
func arrowFields(at arrow.DataType) []arrow.Field {
	return []arrow.Field{
		{Name: "station", Type: arrow.BinaryTypes.String}, {Name: "parameter", Type: arrow.BinaryTypes.String},
		{Name: "value", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "unit", Type: arrow.BinaryTypes.String},
		{Name: "at", Type: at}, {Name: "averaging_minutes", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	}
}

// arrowStream returns a stream of one record that fill fills.
func arrowStream(tb testing.TB, fields []arrow.Field, fill func(*array.RecordBuilder)) string {
	tb.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	fill(b)
	record := b.NewRecord()
	defer record.Release()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(record.Schema()))
	if err := w.Write(record); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

// addArrow adds a reading to a record with the columns of arrowFields.
func addArrow(b *array.RecordBuilder, parameter string, value float64, unit string, at time.Time, averaging int32) {
	b.Field(0).(*array.StringBuilder).Append("roof-1")
	b.Field(1).(*array.StringBuilder).Append(parameter)
	b.Field(2).(*array.Float64Builder).Append(value)
	b.Field(3).(*array.StringBuilder).Append(unit)
	b.Field(4).(*array.TimestampBuilder).Append(arrow.Timestamp(at.UnixMicro()))
	b.Field(5).(*array.Int32Builder).Append(averaging)
}

func TestArrowStoresReadings(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("roof-1", roof).Want(t, "register", 200)
	at := time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)
	body := arrowStream(t, arrowFields(utc), func(b *array.RecordBuilder) {
		addArrow(b, "pm25", 61.5, "µg/m³", at, 60)
		addArrow(b, "pm25", -3, "µg/m³", at.Add(15*time.Minute), 15)
		addArrow(b, "co", 1500, "ug/m3", at.Add(15*time.Minute), 15)
	})
	reply := f.post(arrowType, body).Want(t, "push", 200)
	if got := reply.At("accepted"); got != 2.0 {
		t.Errorf("accepted %v, want 2: %s", got, reply.Text)
	}
	rejected, _ := reply.At("rejected").([]any)
	if len(rejected) != 1 || rejected[0].(map[string]any)["reason"] != "negative_value" || rejected[0].(map[string]any)["index"] != 1.0 {
		t.Errorf("rejected %v, want the second reading as negative_value", rejected)
	}
	if diff := cmp.Diff([]string{"roof-1 pm25 08:30 61.5 60 push", "roof-1 co 08:45 1.5 15 push"}, f.stored(t)); diff != "" {
		t.Errorf("stored readings (-want +got):\n%s", diff)
	}
}

func TestInvalidArrow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("roof-1", roof).Want(t, "register", 200)
	good := arrowStream(t, arrowFields(utc), func(b *array.RecordBuilder) { addArrow(b, "pm25", 1, "ug/m3", now, 60) })
	for _, row := range []struct {
		name, body, field string
		status            int
		code              schema.Code
	}{
		{"no stream", "x", "", 400, schema.InvalidRequest},
		{"cut off", good[:len(good)-300], "", 400, schema.InvalidRequest},
		{"no column at", arrowStream(t, arrowFields(utc)[:4], func(*array.RecordBuilder) {}), "at", 400, schema.InvalidRequest},
		{"too many", arrowStream(t, arrowFields(utc), func(b *array.RecordBuilder) {
			for range 100_001 {
				addArrow(b, "pm25", 1, "ug/m3", now, 60)
			}
		}), "readings", 413, schema.PayloadTooLarge},
	} {
		t.Run(row.name, func(t *testing.T) {
			f.post(arrowType, row.body).WantError(t, row.name, row.status, row.code, row.field)
		})
	}
	local := &arrow.TimestampType{Unit: arrow.Microsecond}
	reply := f.post(arrowType, arrowStream(t, arrowFields(local), func(b *array.RecordBuilder) { addArrow(b, "pm25", 1, "ug/m3", now, 60) })).Want(t, "push", 200)
	rejected, _ := reply.At("rejected").([]any)
	if len(rejected) != 1 || rejected[0].(map[string]any)["field"] != "at" {
		t.Errorf("rejected %v, want a timestamp without a time zone", rejected)
	}
}
