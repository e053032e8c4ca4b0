package arrowstream

import (
	"encoding/binary"
	"math"
	"time"
	"unicode/utf8"
)

// values has the values of one column, in buffers whose sizes were checked. In buffers[0], bit i is 1 if row i has a
// value. buffers[0] may be empty if every row has a value.
type values struct {
	valueType

	rows       int
	buffers    [][]byte
	indexed    bool // the values are positions in the dictionary
	dictionary []string
}

// check checks the sizes of the column's buffers. `nulls` is the number of missing values that the stream states.
func (v *values) check(nulls int64) error {
	if v.kind == null || v.rows == 0 {
		return nil
	}
	if valid := v.buffers[0]; len(valid) == 0 && nulls != 0 || len(valid) != 0 && len(valid) < (v.rows+7)/8 {
		return errCut()
	}
	elements := v.rows
	if v.kind == text {
		elements++ // n texts have n+1 offsets
	}
	if v.size > 0 && len(v.buffers[1])/v.size < elements {
		return errCut()
	}
	return nil
}

// valid reports whether a row has a value.
func (v *values) valid(row int) bool {
	if v.kind == none || v.kind == null || row >= v.rows {
		return false
	}
	bitmap := v.buffers[0]
	return len(bitmap) == 0 || bitmap[row/8]>>(row%8)&1 == 1
}

// integer returns an element of buffers[1]. An unsigned number above the largest int64 becomes negative.
func (v *values) integer(at int) int64 {
	b := v.buffers[1][at*v.size : (at+1)*v.size]
	switch {
	case v.size == 1 && v.signed:
		return int64(int8(b[0]))
	case v.size == 1:
		return int64(b[0])
	case v.size == 2 && v.signed:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case v.size == 2:
		return int64(binary.LittleEndian.Uint16(b))
	case v.size == 4 && v.signed:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	case v.size == 4:
		return int64(binary.LittleEndian.Uint32(b))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// text returns the text of a row. *left is the number of bytes that further texts of the stream may have. `ok` is false
// if the text is missing, not UTF-8, outside its buffer, or longer than *left or MaxText.
func (v *values) text(row int, left *int) (s string, ok bool) {
	switch {
	case !v.valid(row):
		return "", false
	case v.indexed:
		i := v.integer(row)
		if i < 0 || i >= int64(len(v.dictionary)) {
			return "", false
		}
		return v.dictionary[i], true
	}
	part, ok := v.span(row)
	if !ok || len(part) > min(*left, MaxText) || !utf8.Valid(part) {
		return "", false
	}
	*left -= len(part)
	return string(part), true
}

// span returns the bytes of the text of a row. It returns false if they are not within a buffer of the column.
func (v *values) span(row int) ([]byte, bool) {
	if v.kind == text {
		return cut(v.buffers[2], v.integer(row), v.integer(row+1))
	}
	element := v.buffers[1][row*16 : row*16+16]
	length := int64(int32(binary.LittleEndian.Uint32(element)))
	if length <= 12 { // the text is in the view
		return cut(element[4:], 0, length)
	}
	buffer := int64(int32(binary.LittleEndian.Uint32(element[8:])))
	if buffer < 0 || buffer >= int64(len(v.buffers)-2) {
		return nil, false
	}
	from := int64(int32(binary.LittleEndian.Uint32(element[12:])))
	return cut(v.buffers[2+buffer], from, from+length)
}

func cut(data []byte, from, to int64) ([]byte, bool) {
	if from < 0 || to < from || to > int64(len(data)) {
		return nil, false
	}
	return data[from:to], true
}

// Has reports whether the batch has a column.
func (b *Batch) Has(name string) bool {
	_, has := b.columns[name]
	return has
}

// Value is the value of a cell: nil if it is missing, otherwise a string, a float64, an int64 or a time.Time in UTC. A
// timestamp without a time zone is a [Local]. An unsupported or invalid value is an [Unreadable].
type Value any

// Local stands for a timestamp without a time zone. Its instant is unknown, so it has no value.
type Local struct{}

// Unreadable stands for a value of an unsupported type, or for an invalid text. A text is invalid if it is not UTF-8,
// longer than MaxText, or beyond the limit MaxBytes of the stream. In a dictionary, an invalid text becomes "" instead.
type Unreadable struct{}

// Value returns the value of a column in a row.
func (b *Batch) Value(name string, row int) Value {
	v, has := b.columns[name]
	if !has || !v.valid(row) {
		return nil
	}
	switch v.kind {
	case text, view:
		if s, ok := v.text(row, b.textLeft); ok {
			return s
		}
		return Unreadable{}
	case whole:
		n := v.integer(row)
		if n < 0 && !v.signed {
			return float64(uint64(n))
		}
		return n
	case float:
		bits := v.buffers[1][row*v.size : (row+1)*v.size]
		if v.size == 4 {
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(bits)))
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(bits))
	case instant:
		if !v.zoned {
			return Local{}
		}
		return v.time(row)
	}
	return Unreadable{}
}

// time returns the timestamp of a row, in UTC.
func (v *values) time(row int) time.Time {
	n := v.integer(row)
	switch v.unit {
	case 0:
		return time.Unix(n, 0).UTC()
	case 1:
		return time.UnixMilli(n).UTC()
	case 2:
		return time.UnixMicro(n).UTC()
	}
	return time.Unix(0, n).UTC()
}
