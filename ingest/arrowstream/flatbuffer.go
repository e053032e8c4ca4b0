package arrowstream

import "encoding/binary"

// table is a table in a FlatBuffer. `text` has the bytes of the FlatBuffer, and `at` is the position of the table in
// them. Every access checks the bounds. An access out of bounds sets *broken, and all later accesses return zero.
type table struct {
	text   []byte
	at     int
	broken *bool
}

// root returns the root table of a FlatBuffer.
func root(text []byte, broken *bool) table {
	t := table{text: text, broken: broken}
	t.at = int(t.uint32(0))
	return t
}

// bytes returns n bytes at a position, or zeros if the range is outside the buffer.
func (t table) bytes(at, n int) []byte {
	if *t.broken || at < 0 || n < 0 || at > len(t.text)-n {
		*t.broken = true
		return make([]byte, min(max(n, 0), 16)) // n can be huge, and callers decode at most 16 bytes
	}
	return t.text[at : at+n]
}

func (t table) uint16(at int) uint16 { return binary.LittleEndian.Uint16(t.bytes(at, 2)) }
func (t table) uint32(at int) uint32 { return binary.LittleEndian.Uint32(t.bytes(at, 4)) }

// field returns the position of a field, or 0 if the table lacks it. Fields are numbered from 0.
func (t table) field(number int) int {
	vtable := t.at - int(int32(t.uint32(t.at)))
	slot := 4 + 2*number
	if int(t.uint16(vtable)) < slot+2 {
		return 0
	}
	offset := int(t.uint16(vtable + slot))
	if offset == 0 || *t.broken {
		return 0
	}
	return t.at + offset
}

// scalar returns an integer field, sign-extended, or 0 if the table lacks the field. `number` is the number of the
// field, from 0. `size` is its length in bytes.
func (t table) scalar(number, size int) int64 {
	at := t.field(number)
	if at == 0 {
		return 0
	}
	b := t.bytes(at, size)
	switch size {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// table returns the table to which a field refers. `number` is the number of the field, from 0. `ok` is false if the
// field is absent.
func (t table) table(number int) (inner table, ok bool) {
	at := t.field(number)
	if at == 0 {
		return table{}, false
	}
	inner = table{text: t.text, broken: t.broken, at: at + int(t.uint32(at))}
	return inner, !*t.broken
}

// vector is a vector of elements of equal size.
type vector struct {
	table

	length int
	size   int // bytes of an element
}

// vector returns the vector to which a field refers. `number` is the number of the field, from 0. `size` is the size of
// an element in bytes. An absent vector is empty.
func (t table) vector(number, size int) vector {
	at := t.field(number)
	if at == 0 {
		return vector{}
	}
	at += int(t.uint32(at))
	length := int(t.uint32(at))
	if *t.broken || length > len(t.text)/size {
		*t.broken = true
		return vector{}
	}
	t.bytes(at+4, length*size) // checks the bounds of the whole vector
	t.at = at + 4
	return vector{table: t, length: length, size: size}
}

// int64 returns the 64-bit integer at a byte offset within an element.
func (v vector) int64(element, offset int) int64 {
	return int64(binary.LittleEndian.Uint64(v.bytes(v.at+element*v.size+offset, 8)))
}

// tableAt returns the table at the offset that an element of the vector states.
func (v vector) tableAt(element int) table {
	at := v.at + element*v.size
	return table{text: v.text, broken: v.broken, at: at + int(v.uint32(at))}
}

// maxName is the length of the longest accepted name of a column or a time zone, in bytes.
const maxName = 256

// string returns the name to which a field refers, or "" if the field is absent. `number` is the number of the field,
// from 0. A name of more than maxName bytes sets *broken.
func (t table) string(number int) string {
	v := t.vector(number, 1)
	if v.length > maxName {
		*t.broken = true
	}
	if v.length == 0 || *t.broken {
		return ""
	}
	return string(v.bytes(v.at, v.length))
}
