package dataset

import (
	"fmt"
	"regexp"
	"strconv"

	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// dictionaryType is the Arrow type of texts with few distinct values, such as the ids of stations. Parquet stores
// these texts as a dictionary, too.
var dictionaryType = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}

// fewTexts holds a block of LowCardinality(String): the distinct texts, and for each row the index of its text. The
// library ch-go would make a string for each row, which takes a third of the time of an export.
type fewTexts struct {
	index chproto.ColStr
	keys  []int32
	names map[string]int32 // index of each text; used only by the method take
	row   string
	moved []int32 // for each text its index in the record's dictionary, -1 for none; used only by appendTo
}

func newFewTexts(string) values { return &fewTexts{names: map[string]int32{}} }

func (c *fewTexts) result() chproto.ColResult { return c }

// Type implements chproto.ColResult, an interface of the library ch-go.
func (c *fewTexts) Type() chproto.ColumnType { return "LowCardinality(String)" }

// Rows implements chproto.ColResult.
func (c *fewTexts) Rows() int { return len(c.keys) }

// Reset implements chproto.ColResult.
func (c *fewTexts) Reset() {
	c.index.Reset()
	c.keys = c.keys[:0]
	clear(c.names)
}

// DecodeState implements chproto.StateDecoder. The state is the version of the serialization.
func (c *fewTexts) DecodeState(r *chproto.Reader) error {
	version, err := r.Int64()
	if err == nil && version != 1 {
		err = fmt.Errorf("LowCardinality has the version %d, want 1", version)
	}
	return err
}

// DecodeColumn implements chproto.ColResult.
func (c *fewTexts) DecodeColumn(r *chproto.Reader, rows int) error {
	meta, err := r.Int64()
	if err != nil {
		return err
	}
	const global, additional = 1 << 8, 1 << 9
	if meta&global != 0 || meta&additional == 0 {
		return fmt.Errorf("LowCardinality has no dictionary in its block: %x", meta)
	}
	count, err := r.Int64()
	if err != nil {
		return err
	}
	if count < 1 || count > int64(rows)+1 { // the first value is "", even if no row has it
		return fmt.Errorf("LowCardinality has %d values for %d rows", count, rows)
	}
	if err := c.index.DecodeColumn(r, int(count)); err != nil {
		return err
	}
	if again, err := r.Int64(); err != nil || again != int64(rows) {
		return fmt.Errorf("LowCardinality has %d keys for %d rows: %w", again, rows, err)
	}
	switch meta & 0xff {
	case 0:
		return decodeKeys[chproto.ColUInt8](c, r, rows, count)
	case 1:
		return decodeKeys[chproto.ColUInt16](c, r, rows, count)
	case 2:
		return decodeKeys[chproto.ColUInt32](c, r, rows, count)
	}
	return fmt.Errorf("LowCardinality has keys of the type %d", meta&0xff)
}

func decodeKeys[C ~[]T, P interface {
	*C
	chproto.ColResult
}, T uint8 | uint16 | uint32](c *fewTexts, r *chproto.Reader, rows int, count int64) error {
	var keys C
	if err := P(&keys).DecodeColumn(r, rows); err != nil {
		return err
	}
	for _, key := range keys {
		if int64(key) >= count {
			return fmt.Errorf("LowCardinality has the key %d for %d values", key, count)
		}
		c.keys = append(c.keys, int32(key))
	}
	return nil
}

func (c *fewTexts) dest() any { return &c.row }

func (c *fewTexts) take() {
	n, ok := c.names[c.row]
	if !ok {
		n = int32(len(c.index.Pos))
		c.names[c.row] = n
		c.index.Append(c.row)
	}
	c.keys = append(c.keys, n)
}

func (c *fewTexts) build(arrow.DataType) builder { return newDictionary() }

// appendTo implements values. It numbers texts in the order of the rows, so that the numbers do not depend on the
// size of ClickHouse's blocks.
func (c *fewTexts) appendTo(b builder, from, to int) {
	out := b.(*dictionary)
	c.moved = c.moved[:0]
	for range c.index.Pos {
		c.moved = append(c.moved, -1)
	}
	out.index.Reserve(to - from)
	for _, key := range c.keys[from:to] {
		n := c.moved[key]
		if n < 0 {
			n = out.number(c.index.RowBytes(int(key)))
			c.moved[key] = n
		}
		out.index.UnsafeAppend(n)
	}
}

// enumTexts holds a block of an Enum8 column. For each row it has the number of the row's value.
type enumTexts struct {
	raw[chproto.ColInt8, *chproto.ColInt8]

	texts   map[int8]string
	numbers map[string]int8
	row     string
	moved   [256]int32
}

// enumValue matches one value in the definition of an enumeration, such as 'pm25' = 1.
var enumValue = regexp.MustCompile(`'((?:[^'\\]|\\.)*)' = (-?\d+)`)

// enums returns the values for a column of a type such as Enum8('none' = 0, 'pm25' = 1).
func enums(name string) values {
	c := &enumTexts{texts: map[int8]string{}, numbers: map[string]int8{}}
	c.name = chproto.ColumnType(name)
	for _, m := range enumValue.FindAllStringSubmatch(name, -1) {
		n, err := strconv.ParseInt(m[2], 10, 8)
		if err != nil {
			continue // ClickHouse has no such type
		}
		c.texts[int8(n)], c.numbers[m[1]] = m[1], int8(n)
	}
	return c
}

func (c *enumTexts) result() chproto.ColResult { return &c.raw }
func (c *enumTexts) dest() any                 { return &c.row }
func (c *enumTexts) take()                     { c.data = append(c.data, c.numbers[c.row]) }

func (c *enumTexts) build(arrow.DataType) builder { return newDictionary() }

func (c *enumTexts) appendTo(b builder, from, to int) {
	out := b.(*dictionary)
	for i := range c.moved {
		c.moved[i] = -1
	}
	out.index.Reserve(to - from)
	for _, v := range c.data[from:to] {
		n := c.moved[uint8(v)]
		if n < 0 {
			n = out.number([]byte(c.texts[v]))
			c.moved[uint8(v)] = n
		}
		out.index.UnsafeAppend(n)
	}
}

// dictionary builds the dictionary-encoded Arrow array of a column, for one record.
type dictionary struct {
	index   *array.Int32Builder
	texts   *array.StringBuilder
	numbers map[string]int32
}

func newDictionary() *dictionary {
	return &dictionary{index: array.NewInt32Builder(memory.DefaultAllocator), texts: array.NewStringBuilder(memory.DefaultAllocator), numbers: map[string]int32{}}
}

// number returns the index of a text in the dictionary. It adds the text if the dictionary lacks it.
func (d *dictionary) number(text []byte) int32 {
	n, ok := d.numbers[string(text)]
	if !ok {
		n = int32(len(d.numbers))
		d.numbers[string(text)] = n
		d.texts.Append(string(text))
	}
	return n
}

// NewArray implements builder.
func (d *dictionary) NewArray() arrow.Array {
	index, texts := d.index.NewArray(), d.texts.NewArray()
	defer index.Release()
	defer texts.Release()
	clear(d.numbers)
	return array.NewDictionaryArray(dictionaryType, index, texts)
}

// Release implements builder.
func (d *dictionary) Release() {
	d.index.Release()
	d.texts.Release()
}

// plain returns a dictionary-encoded array as a new array of texts, and any other array itself. The caller releases it.
func plain(column arrow.Array) arrow.Array {
	d, ok := column.(*array.Dictionary)
	if !ok {
		column.Retain()
		return column
	}
	texts, index := d.Dictionary().(*array.String), d.Indices().(*array.Int32).Int32Values()
	offsets, size := make([]int32, len(index)+1), 0
	for i, n := range index {
		size += texts.ValueLen(int(n))
		offsets[i+1] = int32(size)
	}
	all := make([]byte, 0, size)
	for _, n := range index {
		all = append(all, texts.Value(int(n))...)
	}
	data := array.NewData(arrow.BinaryTypes.String, len(index), []*memory.Buffer{
		nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), memory.NewBufferBytes(all),
	}, nil, 0, 0)
	defer data.Release()
	return array.NewStringData(data)
}

// plainSchema returns a schema in which dictionary types are replaced by texts.
func plainSchema(s *arrow.Schema) *arrow.Schema {
	fields := s.Fields()
	for i := range fields {
		if fields[i].Type.ID() == arrow.DICTIONARY {
			fields[i].Type = arrow.BinaryTypes.String
		}
	}
	meta := s.Metadata()
	return arrow.NewSchema(fields, &meta)
}
