package push

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"vayu/internal/panics"
	"vayu/schema"
)

// maxArrowMemory bounds the memory of one decoded Arrow stream, in bytes. The reader
// allocates what lengths in the stream claim, before it has read that much.
const maxArrowMemory = 64 << 20

var errArrowMemory = errors.New("the Arrow stream needs too much memory")

// boundedAllocator panics with errArrowMemory when more than its rest would be in use.
type boundedAllocator struct {
	memory.GoAllocator
	rest int
}

// Allocate implements memory.Allocator.
func (a *boundedAllocator) Allocate(size int) []byte {
	a.use(size)
	return a.GoAllocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (a *boundedAllocator) Reallocate(size int, b []byte) []byte {
	a.use(size - len(b))
	return a.GoAllocator.Reallocate(size, b)
}

// Free implements memory.Allocator.
func (a *boundedAllocator) Free(b []byte) { a.rest += len(b) }

func (a *boundedAllocator) use(size int) {
	if size > a.rest {
		panic(errArrowMemory)
	}
	a.rest -= size
}

// decodeArrow decodes an Arrow IPC stream. Texts may be dictionary-encoded. Column `at`
// is a timestamp or a text.
func decodeArrow(body []byte) ([]row, error) {
	var rows []row
	err := panics.Catch(func() (err error) {
		rows, err = readArrow(body)
		return err
	})
	if err == nil {
		return rows, nil
	}
	if p, ok := errors.AsType[*schema.Problem](err); ok {
		return nil, p
	}
	return nil, schema.NewProblem(schema.InvalidRequest, "", "The body is not a valid Arrow IPC stream.")
}

func readArrow(body []byte) ([]row, error) {
	in, err := ipc.NewReader(bytes.NewReader(body), ipc.WithAllocator(&boundedAllocator{rest: maxArrowMemory}))
	if err != nil {
		return nil, err
	}
	defer in.Release()
	fields := in.Schema().Fields()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	at, err := columnIndexes(names)
	if err != nil {
		return nil, err
	}
	var rows []row
	for in.Next() {
		record := in.Record()
		n := int(record.NumRows())
		if len(rows)+n > maxReadings {
			return nil, tooMany()
		}
		first := len(rows)
		rows = append(rows, make([]row, n)...)
		for column, position := range at {
			if position < 0 {
				continue
			}
			if err := setColumn(rows[first:], column, record.Column(position)); err != nil {
				return nil, err
			}
		}
	}
	return rows, in.Err()
}

// setColumn sets one field of each row from a column; see columns for the numbers.
func setColumn(rows []row, column int, values arrow.Array) error {
	switch column {
	case 2, 6, 7:
		number, ok := numbers(values)
		if !ok {
			return wrongColumn(column, "a number")
		}
		for i := range rows {
			if values.IsNull(i) {
				continue
			}
			v := number(i)
			*[]**float64{2: &rows[i].Value, 6: &rows[i].Latitude, 7: &rows[i].Longitude}[column] = &v
		}
		return nil
	case 5:
		number, ok := numbers(values)
		if !ok {
			return wrongColumn(column, "a number")
		}
		for i := range rows {
			if !values.IsNull(i) {
				minutes := int(number(i))
				rows[i].Averaging = &minutes
			}
		}
		return nil
	}
	if times, ok := values.(*array.Timestamp); ok && columns[column] == "at" {
		unit := times.DataType().(*arrow.TimestampType).Unit
		for i := range rows {
			if !times.IsNull(i) {
				rows[i].at = timeOf(int64(times.Value(i)), unit)
			}
		}
		return nil
	}
	text, ok := texts(values)
	if !ok {
		return wrongColumn(column, "a text")
	}
	for i := range rows {
		if !values.IsNull(i) {
			*[]*string{0: &rows[i].Station, 1: &rows[i].Parameter, 3: &rows[i].Unit, 4: &rows[i].At, 8: &rows[i].Name}[column] = text(i)
		}
	}
	return nil
}

// timeOf converts a timestamp. Unlike [arrow.Timestamp.ToTime] it keeps the whole range
// of times.
func timeOf(v int64, unit arrow.TimeUnit) time.Time {
	switch unit {
	case arrow.Second:
		return time.Unix(v, 0)
	case arrow.Millisecond:
		return time.UnixMilli(v)
	case arrow.Microsecond:
		return time.UnixMicro(v)
	}
	return time.Unix(0, v)
}

func wrongColumn(column int, want string) error {
	return schema.NewProblem(schema.InvalidRequest, columns[column], fmt.Sprintf("The Arrow column %s is not %s.", columns[column], want))
}

// texts returns a function that reads a text column, plain or dictionary-encoded. The
// texts outlive the column.
func texts(values arrow.Array) (text func(int) string, ok bool) {
	switch v := values.(type) {
	case *array.String:
		return func(i int) string { return string([]byte(v.Value(i))) }, true
	case *array.LargeString:
		return func(i int) string { return string([]byte(v.Value(i))) }, true
	case *array.Dictionary:
		inner, ok := texts(v.Dictionary())
		return func(i int) string { return inner(v.GetValueIndex(i)) }, ok
	}
	return nil, false
}

// numbers returns a function that reads a numeric column.
func numbers(values arrow.Array) (number func(int) float64, ok bool) {
	switch v := values.(type) {
	case *array.Float64:
		return v.Value, true
	case *array.Float32:
		return func(i int) float64 { return float64(v.Value(i)) }, true
	case *array.Int64:
		return func(i int) float64 { return float64(v.Value(i)) }, true
	case *array.Int32:
		return func(i int) float64 { return float64(v.Value(i)) }, true
	case *array.Uint16:
		return func(i int) float64 { return float64(v.Value(i)) }, true
	}
	return nil, false
}
