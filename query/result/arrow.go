package result

import (
	"fmt"
	"io"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// arrowRows is the number of rows in each record batch of an Arrow stream.
const arrowRows = 1 << 14

// Arrow writes rows as an Arrow IPC stream, and returns the number of rows. Integers, floats,
// booleans, dates and instants keep their type. Values of other types become text; lists, maps and
// tuples become JSON text.
func Arrow(w io.Writer, rows Rows) (int, error) {
	types := rows.ColumnTypes()
	names := rows.Columns()
	fields := make([]arrow.Field, len(types))
	probe := newCells(rows)
	for i := range types {
		fields[i] = arrow.Field{Name: names[i], Type: arrowType(probe, i, isDate(types[i])), Nullable: true}
	}
	shape := arrow.NewSchema(fields, nil)
	out := ipc.NewWriter(w, ipc.WithSchema(shape))
	builder := array.NewRecordBuilder(memory.DefaultAllocator, shape)
	defer builder.Release()
	pending := 0
	flush := func() error {
		record := builder.NewRecord()
		defer record.Release()
		pending = 0
		return out.Write(record)
	}
	n, err := each(rows, func(c cells) error {
		for i := range c {
			appendCell(builder.Field(i), c, i)
		}
		if pending++; pending < arrowRows {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush() // flush writes the schema, which an empty result has, too
	}
	if closed := out.Close(); err == nil && closed != nil {
		err = fmt.Errorf("closing the Arrow stream: %w", closed)
	}
	return n, err
}

// arrowType returns the Arrow type of column i. It depends on the Go type into which the column scans. date is true for
// calendar dates.
func arrowType(c cells, i int, date bool) arrow.DataType {
	switch c[i].(type) {
	case *int8, **int8:
		return arrow.PrimitiveTypes.Int8
	case *int16, **int16:
		return arrow.PrimitiveTypes.Int16
	case *int32, **int32:
		return arrow.PrimitiveTypes.Int32
	case *int64, **int64:
		return arrow.PrimitiveTypes.Int64
	case *uint8, **uint8:
		return arrow.PrimitiveTypes.Uint8
	case *uint16, **uint16:
		return arrow.PrimitiveTypes.Uint16
	case *uint32, **uint32:
		return arrow.PrimitiveTypes.Uint32
	case *uint64, **uint64:
		return arrow.PrimitiveTypes.Uint64
	case *float32, **float32:
		return arrow.PrimitiveTypes.Float32
	case *float64, **float64:
		return arrow.PrimitiveTypes.Float64
	case *bool, **bool:
		return arrow.FixedWidthTypes.Boolean
	case *time.Time, **time.Time:
		if date {
			return arrow.FixedWidthTypes.Date32
		}
		return arrow.FixedWidthTypes.Timestamp_us
	}
	return arrow.BinaryTypes.String
}

func appendCell(b array.Builder, c cells, i int) {
	v := c.value(i)
	if v == nil {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.Int8Builder:
		b.Append(v.(int8))
	case *array.Int16Builder:
		b.Append(v.(int16))
	case *array.Int32Builder:
		b.Append(v.(int32))
	case *array.Int64Builder:
		b.Append(v.(int64))
	case *array.Uint8Builder:
		b.Append(v.(uint8))
	case *array.Uint16Builder:
		b.Append(v.(uint16))
	case *array.Uint32Builder:
		b.Append(v.(uint32))
	case *array.Uint64Builder:
		b.Append(v.(uint64))
	case *array.Float32Builder:
		b.Append(v.(float32))
	case *array.Float64Builder:
		b.Append(v.(float64))
	case *array.BooleanBuilder:
		b.Append(v.(bool))
	case *array.Date32Builder:
		b.Append(arrow.Date32FromTime(v.(time.Time)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.(time.Time).UnixMicro()))
	case *array.StringBuilder:
		b.Append(c.text(i, ""))
	}
}
