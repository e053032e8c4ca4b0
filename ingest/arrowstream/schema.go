package arrowstream

// maxColumns is the largest number of columns in a table.
const maxColumns = 1000

// column is a column of the schema of an Arrow stream.
type column struct {
	name       string
	wanted     bool
	value      valueType // type of the values in the column or in its dictionary
	index      valueType // type of the positions in the dictionary; its kind is `none` for a column without dictionary
	dictionary int64     // id of the dictionary
}

// valueType is a data type of Arrow. `buffers` is the number of buffers that an array of the type has.
type valueType struct {
	kind    kind
	buffers int
	size    int // bytes of an element; for text, bytes of an offset
	signed  bool
	unit    int64 // Arrow's TimeUnit
	zoned   bool  // a timestamp with a time zone
}

// kind is the layout of a data type.
type kind int8

const (
	none    kind = iota
	other        // a flat type whose values are Unreadable
	null         // no value at all
	whole        // integers
	float        // float32 and float64
	text         // an offset buffer and bytes
	view         // a buffer of views, and any number of buffers of bytes
	instant      // timestamps
)

// Numbers of the union Type in Schema.fbs.
const (
	typeNull            = 1
	typeInt             = 2
	typeFloat           = 3
	typeBinary          = 4
	typeText            = 5
	typeBool            = 6
	typeDecimal         = 7
	typeDate            = 8
	typeTime            = 9
	typeTimestamp       = 10
	typeInterval        = 11
	typeFixedSizeBinary = 15
	typeDuration        = 18
	typeLargeBinary     = 19
	typeLargeText       = 20
	typeBinaryView      = 23
	typeTextView        = 24
)

// schema reads the message Schema.
func (r *reader) schema(header table) error {
	if header.scalar(0, 2) != 0 {
		return fault("", "The stream is big-endian. Send it little-endian.")
	}
	fields := header.vector(1, 4)
	if fields.length > maxColumns {
		return fault("", "The table has more than %d columns.", maxColumns)
	}
	r.columns = make([]column, 0, fields.length)
	for i := range fields.length {
		c, err := r.column(fields.tableAt(i))
		if err != nil {
			return err
		}
		r.columns = append(r.columns, c)
	}
	return nil
}

// column reads the definition of a column from the schema.
func (r *reader) column(field table) (column, error) {
	c := column{name: field.string(0)}
	c.wanted = r.wanted[c.name]
	details, _ := field.table(3)
	if c.value = readType(field.scalar(2, 1), details); c.value.kind == none {
		return c, fault(c.name, "The type of the column is not supported. Leave the column out, or convert it.")
	}
	encoding, encoded := field.table(4)
	if !encoded {
		return c, nil
	}
	c.dictionary = encoding.scalar(0, 8)
	c.index = valueType{kind: whole, buffers: 2, size: 4, signed: true}
	if index, given := encoding.table(1); given {
		c.index = readType(typeInt, index)
	}
	if c.wanted && (c.value.kind != text && c.value.kind != view || c.index.kind != whole) {
		return c, fault(c.name, "A dictionary must have texts.")
	}
	if c.wanted {
		r.texts[c.dictionary] = c.value
	}
	return c, nil
}

// readType returns the data type for a number of the union Type. For an unknown or nested type, its kind is `none`.
func readType(number int64, details table) valueType {
	if details.broken == nil { // the table is absent, so all its fields have their defaults
		details = table{text: make([]byte, 8), at: 4, broken: new(bool)}
	}
	switch number {
	case typeNull:
		return valueType{kind: null}
	case typeInt:
		t := valueType{kind: whole, buffers: 2, size: int(details.scalar(0, 4)) / 8, signed: details.scalar(1, 1) != 0}
		if t.size != 1 && t.size != 2 && t.size != 4 && t.size != 8 {
			t.kind = none
		}
		return t
	case typeFloat:
		switch details.scalar(0, 2) {
		case 1:
			return valueType{kind: float, buffers: 2, size: 4}
		case 2:
			return valueType{kind: float, buffers: 2, size: 8}
		}
		return valueType{kind: other, buffers: 2}
	case typeText:
		return valueType{kind: text, buffers: 3, size: 4}
	case typeLargeText:
		return valueType{kind: text, buffers: 3, size: 8}
	case typeTextView:
		return valueType{kind: view, buffers: 2, size: 16}
	case typeBinaryView:
		return valueType{kind: view, buffers: 2, size: 16}
	case typeTimestamp:
		return valueType{kind: instant, buffers: 2, size: 8, unit: details.scalar(0, 2), zoned: details.string(1) != ""}
	case typeBinary, typeLargeBinary:
		return valueType{kind: other, buffers: 3}
	case typeBool, typeDecimal, typeDate, typeTime, typeInterval, typeFixedSizeBinary, typeDuration:
		return valueType{kind: other, buffers: 2}
	}
	return valueType{}
}
