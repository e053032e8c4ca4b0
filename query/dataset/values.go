package dataset

import (
	"time"

	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// values holds the values of a column in one block. The reader decodes a block in ClickHouse's Native format into
// `result`. If the driver returns single rows, it scans each row into `dest`, and then `take` adds the value.
type values interface {
	result() chproto.ColResult
	dest() any
	take()
	// build returns a builder of Arrow arrays for the values of the column.
	build(to arrow.DataType) builder
	// appendTo appends the values of the rows [from, to) to a builder that the method `build` has returned.
	appendTo(b builder, from, to int)
}

// builder builds the Arrow array of a column, for one record.
type builder interface {
	// NewArray returns the array of the collected values, and resets the builder.
	NewArray() arrow.Array
	Release()
}

// column holds values of the Go type T in a column of ch-go. The field `append` is the implementation of appendTo.
type column[T any] struct {
	chproto.ColumnOf[T]

	row    T
	append func(c *column[T], b builder, from, to int)
}

func (c *column[T]) result() chproto.ColResult        { return c.ColumnOf }
func (c *column[T]) dest() any                        { return &c.row }
func (c *column[T]) take()                            { c.Append(c.row) }
func (c *column[T]) appendTo(b builder, from, to int) { c.append(c, b, from, to) }
func (c *column[T]) build(to arrow.DataType) builder {
	return array.NewBuilder(memory.DefaultAllocator, to)
}

// nullable is a column whose values can be NULL.
type nullable[T any] struct {
	*chproto.ColNullable[T]

	row    *T
	valid  []bool
	append func(c *nullable[T], b builder, from, to int)
}

func (c *nullable[T]) result() chproto.ColResult { return c.ColNullable }

func (c *nullable[T]) dest() any { return &c.row }

func (c *nullable[T]) build(to arrow.DataType) builder {
	return array.NewBuilder(memory.DefaultAllocator, to)
}

func (c *nullable[T]) take() {
	if c.row == nil {
		c.Append(chproto.Null[T]())
		return
	}
	c.Append(chproto.NewNullable(*c.row))
}

func (c *nullable[T]) appendTo(b builder, from, to int) {
	c.valid = c.valid[:0]
	for _, null := range c.Nulls[from:to] {
		c.valid = append(c.valid, null == 0)
	}
	c.append(c, b, from, to)
}

// form has the Arrow type for a numeric type of ClickHouse, and constructors of its columns.
type form struct {
	arrow           arrow.DataType
	plain, nullable func(name string) values
}

// bulk is a builder that appends a slice of values at once, as the Arrow builders of all numeric types do.
type bulk[T any] interface{ AppendValues(v []T, valid []bool) }

// numeric returns the form of a type whose ch-go column is a slice.
func numeric[T any, C ~[]T, P interface {
	*C
	chproto.ColumnOf[T]
}](to arrow.DataType) form {
	return form{
		arrow: to,
		plain: func(string) values {
			data := new(C)
			return &column[T]{ColumnOf: P(data), append: func(_ *column[T], b builder, from, to int) {
				b.(bulk[T]).AppendValues((*data)[from:to], nil)
			}}
		},
		nullable: func(string) values {
			data := new(C)
			return &nullable[T]{ColNullable: chproto.NewColNullable[T](P(data)), append: func(c *nullable[T], b builder, from, to int) {
				b.(bulk[T]).AppendValues((*data)[from:to], c.valid)
			}}
		},
	}
}

// numbers maps the numeric types of ClickHouse to their forms.
var numbers = map[string]form{
	"Bool":    numeric[bool, chproto.ColBool](arrow.FixedWidthTypes.Boolean),
	"UInt8":   numeric[uint8, chproto.ColUInt8](arrow.PrimitiveTypes.Uint8),
	"UInt16":  numeric[uint16, chproto.ColUInt16](arrow.PrimitiveTypes.Uint16),
	"UInt32":  numeric[uint32, chproto.ColUInt32](arrow.PrimitiveTypes.Uint32),
	"UInt64":  numeric[uint64, chproto.ColUInt64](arrow.PrimitiveTypes.Uint64),
	"Int8":    numeric[int8, chproto.ColInt8](arrow.PrimitiveTypes.Int8),
	"Int16":   numeric[int16, chproto.ColInt16](arrow.PrimitiveTypes.Int16),
	"Int32":   numeric[int32, chproto.ColInt32](arrow.PrimitiveTypes.Int32),
	"Int64":   numeric[int64, chproto.ColInt64](arrow.PrimitiveTypes.Int64),
	"Float32": numeric[float32, chproto.ColFloat32](arrow.PrimitiveTypes.Float32),
	"Float64": numeric[float64, chproto.ColFloat64](arrow.PrimitiveTypes.Float64),
}

// text appends the strings of rows. If `valid` is not nil, it states which rows are not NULL.
func text(b builder, row func(int) string, valid []bool, from, to int) {
	out := b.(*array.StringBuilder)
	out.Reserve(to - from)
	for i := from; i < to; i++ {
		if i-from < len(valid) && !valid[i-from] {
			out.AppendNull()
			continue
		}
		out.Append(row(i))
	}
}

// texts returns the values of a column of the type String.
func texts(string) values {
	data := new(chproto.ColStr)
	return &column[string]{ColumnOf: data, append: func(_ *column[string], b builder, from, to int) { text(b, data.Row, nil, from, to) }}
}

// nullableTexts returns the values of a column of the type Nullable(String).
func nullableTexts(string) values {
	data := new(chproto.ColStr)
	return &nullable[string]{ColNullable: data.Nullable(), append: func(c *nullable[string], b builder, from, to int) {
		text(b, data.Row, c.valid, from, to)
	}}
}

// lists returns the values of a column of the type Array(String).
func lists(string) values {
	data := new(chproto.ColStr).Array()
	return &column[[]string]{ColumnOf: data, append: func(_ *column[[]string], b builder, from, to int) {
		out := b.(*array.ListBuilder)
		items := out.ValueBuilder().(*array.StringBuilder)
		var row []string
		for i := from; i < to; i++ {
			out.Append(true)
			row = data.RowAppend(i, row[:0])
			items.AppendValues(row, nil)
		}
	}}
}

// numberLists returns the values of a column of the type Array(Float64).
func numberLists(string) values {
	data := new(chproto.ColFloat64).Array()
	return &column[[]float64]{ColumnOf: data, append: func(_ *column[[]float64], b builder, from, to int) {
		out := b.(*array.ListBuilder)
		items := out.ValueBuilder().(*array.Float64Builder)
		var row []float64
		for i := from; i < to; i++ {
			out.Append(true)
			row = data.RowAppend(i, row[:0])
			items.AppendValues(row, nil)
		}
	}}
}

// raw is a column that ch-go decodes as the type C. Its ClickHouse type, `name`, has the same binary form as C.
type raw[C any, P interface {
	*C
	chproto.ColResult
}] struct {
	data C
	name chproto.ColumnType
}

func (r *raw[C, P]) Type() chproto.ColumnType { return r.name }
func (r *raw[C, P]) Rows() int                { return P(&r.data).Rows() }
func (r *raw[C, P]) Reset()                   { P(&r.data).Reset() }

func (r *raw[C, P]) DecodeColumn(in *chproto.Reader, rows int) error {
	return P(&r.data).DecodeColumn(in, rows)
}

// times holds dates or times as numbers of days, seconds or milliseconds since 1970.
type times[T uint16 | int32 | uint32 | int64, C ~[]T, P interface {
	*C
	chproto.ColResult
}] struct {
	raw[C, P]

	row  time.Time
	unit time.Duration // unit of the numbers
	// convert appends the numbers `all` to an Arrow builder.
	convert func(b builder, all []T)
}

func (c *times[T, C, P]) result() chproto.ColResult { return &c.raw }
func (c *times[T, C, P]) dest() any                 { return &c.row }

func (c *times[T, C, P]) take() {
	c.data = append(c.data, T(c.row.Sub(time.Unix(0, 0))/c.unit))
}

func (c *times[T, C, P]) build(to arrow.DataType) builder {
	return array.NewBuilder(memory.DefaultAllocator, to)
}

func (c *times[T, C, P]) appendTo(b builder, from, to int) { c.convert(b, c.data[from:to]) }

const day = 24 * time.Hour

// dates returns the values of a column of the type Date.
func dates(name string) values {
	c := &times[uint16, chproto.ColUInt16, *chproto.ColUInt16]{unit: day, convert: appendDates[uint16]}
	c.name = chproto.ColumnType(name)
	return c
}

// longDates returns the values of a column of the type Date32.
func longDates(name string) values {
	c := &times[int32, chproto.ColInt32, *chproto.ColInt32]{unit: day, convert: appendDates[int32]}
	c.name = chproto.ColumnType(name)
	return c
}

// seconds returns the values of a column of the type DateTime.
func seconds(name string) values {
	c := &times[uint32, chproto.ColUInt32, *chproto.ColUInt32]{unit: time.Second, convert: func(b builder, all []uint32) { appendInstants(b, all, 1000, nil) }}
	c.name = chproto.ColumnType(name)
	return c
}

// milliseconds returns the values of a column of the type DateTime64(3).
func milliseconds(name string) values {
	c := &times[int64, chproto.ColInt64, *chproto.ColInt64]{unit: time.Millisecond, convert: func(b builder, all []int64) { appendInstants(b, all, 1, nil) }}
	c.name = chproto.ColumnType(name)
	return c
}

// appendInstants appends times. `scale` is the number of milliseconds in the unit of the numbers.
func appendInstants[T uint32 | int64](b builder, all []T, scale arrow.Timestamp, valid []bool) {
	out := b.(*array.TimestampBuilder)
	out.Reserve(len(all))
	for i, v := range all {
		if i < len(valid) && !valid[i] {
			out.AppendNull()
			continue
		}
		out.UnsafeAppend(arrow.Timestamp(v) * scale)
	}
}

// appendDates appends dates, given as days since 1970.
func appendDates[T uint16 | int32](b builder, all []T) {
	out := b.(*array.Date32Builder)
	out.Reserve(len(all))
	for _, v := range all {
		out.UnsafeAppend(arrow.Date32(v))
	}
}

// nullableInstants returns the values of a column of the type Nullable(Int64), which are milliseconds since 1970.
func nullableInstants(string) values {
	data := new(chproto.ColInt64)
	return &nullable[int64]{ColNullable: data.Nullable(), append: func(c *nullable[int64], b builder, from, to int) {
		appendInstants(b, (*data)[from:to], 1, c.valid)
	}}
}

// nullableDates returns the values of a column of the type Nullable(Int32), which are days since 1970.
func nullableDates(string) values {
	data := new(chproto.ColInt32)
	return &nullable[int32]{ColNullable: data.Nullable(), append: func(c *nullable[int32], b builder, from, to int) {
		out := b.(*array.Date32Builder)
		for i, v := range (*data)[from:to] {
			if !c.valid[i] {
				out.AppendNull()
				continue
			}
			out.Append(arrow.Date32(v))
		}
	}}
}
