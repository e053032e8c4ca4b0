package arrowstream

import "encoding/binary"

// Batch is a record batch: rows of the wanted columns.
type Batch struct {
	rows     int
	columns  map[string]values
	textLeft *int
}

// Rows returns the number of rows.
func (b *Batch) Rows() int { return b.rows }

// maxRows bounds the rows of a batch, so that computed sizes of buffers do not overflow an int.
const maxRows = 1 << 31

// batch reads a message RecordBatch and calls `visit` with its rows.
func (r *reader) batch(header table, body []byte, visit func(*Batch) error) error {
	a, err := r.arrays(header, body)
	if err != nil {
		return err
	}
	b := &Batch{rows: a.rows, columns: make(map[string]values), textLeft: &r.textLeft}
	for i := range r.columns {
		c := &r.columns[i]
		v, err := a.next(c)
		if err != nil {
			return err
		}
		if c.wanted {
			if _, twice := b.columns[c.name]; twice {
				return fault(c.name, "The column occurs twice.")
			}
			b.columns[c.name] = v
		}
	}
	if err := a.end(); err != nil {
		return err
	}
	return visit(b)
}

// dictionary reads a message DictionaryBatch. It stores the texts of the dictionary if a wanted column refers to it.
func (r *reader) dictionary(header table, body []byte) error {
	id := header.scalar(0, 8)
	of, wanted := r.texts[id]
	data, _ := header.table(1)
	if data.broken == nil {
		return errCut()
	}
	if !wanted {
		return nil
	}
	a, err := r.arrays(data, body)
	if err != nil {
		return err
	}
	v, err := a.next(&column{value: of, wanted: true})
	if err != nil {
		return err
	}
	if err := a.end(); err != nil {
		return err
	}
	var texts []string
	if header.scalar(2, 1) != 0 { // a delta batch adds to the dictionary
		texts = r.dictionaries[id]
	}
	for i := range a.rows {
		s, _ := v.text(i, &r.textLeft)
		texts = append(texts, s)
	}
	r.dictionaries[id] = texts
	return nil
}

// arrays reads the arrays of a record batch: one for each column, in the order of the schema.
type arrays struct {
	*reader

	rows     int
	body     []byte
	codec    codec
	nodes    vector
	buffers  vector
	variadic vector // for each array of views, its number of data buffers

	node, buffer, views int // positions of the next elements of nodes, buffers and variadic
}

func (r *reader) arrays(header table, body []byte) (*arrays, error) {
	a := &arrays{reader: r, body: body, nodes: header.vector(1, 16), buffers: header.vector(2, 16), variadic: header.vector(4, 8)}
	rows := header.scalar(0, 8)
	if compression, compressed := header.table(3); compressed {
		a.codec = codec(compression.scalar(0, 1)) + lz4Codec
		if a.codec > zstdCodec || a.codec < lz4Codec || compression.scalar(1, 1) != 0 {
			return nil, fault("", "The compression of the stream is not supported. Use LZ4, Zstandard, or none.")
		}
	}
	if *header.broken || rows < 0 || rows > maxRows {
		return nil, errCut()
	}
	a.rows = int(rows)
	return a, nil
}

// end returns an error if the batch has arrays or buffers that the calls of next have not used.
func (a *arrays) end() error {
	if a.node != a.nodes.length || a.buffer != a.buffers.length || a.views != a.variadic.length {
		return errCut()
	}
	return nil
}

// next returns the next array of the batch. c must be the next column of the schema, because the arrays have no names.
// If c is not wanted, next skips the array and returns empty values.
func (a *arrays) next(c *column) (values, error) {
	stored := c.value
	if c.index.kind != none {
		stored = c.index
	}
	if a.node >= a.nodes.length || a.nodes.int64(a.node, 0) != int64(a.rows) {
		return values{}, errCut()
	}
	nulls := a.nodes.int64(a.node, 8)
	a.node++
	count := stored.buffers
	if stored.kind == view {
		if a.views >= a.variadic.length {
			return values{}, errCut()
		}
		more := a.variadic.int64(a.views, 0)
		a.views++
		if more < 0 || more > int64(a.buffers.length) {
			return values{}, errCut()
		}
		count += int(more)
	}
	first := a.buffer
	if a.buffer += count; a.buffer > a.buffers.length {
		return values{}, errCut()
	}
	if !c.wanted {
		return values{}, nil
	}
	v := values{valueType: stored, rows: a.rows}
	for i := first; i < a.buffer; i++ {
		part, err := a.bufferAt(i)
		if err != nil {
			return values{}, err
		}
		v.buffers = append(v.buffers, part)
	}
	if err := v.check(nulls); err != nil {
		return values{}, err
	}
	if c.index.kind != none {
		v.dictionary = a.dictionaries[c.dictionary]
		v.kind = text
		v.indexed = true
	}
	return v, nil
}

// bufferAt returns the buffer of the given number, decompressed.
func (a *arrays) bufferAt(i int) ([]byte, error) {
	offset, length := a.buffers.int64(i, 0), a.buffers.int64(i, 8)
	if offset < 0 || length < 0 || offset > int64(len(a.body)) || length > int64(len(a.body))-offset {
		return nil, errCut()
	}
	part := a.body[offset : offset+length]
	if a.codec == plain || len(part) == 0 {
		return part, nil
	}
	if len(part) < 8 {
		return nil, errCut()
	}
	size := int64(binary.LittleEndian.Uint64(part))
	if size == -1 { // -1 marks a buffer that is not compressed
		return part[8:], nil
	}
	if size < 0 || size > int64(a.left) {
		return nil, fault("", "The stream has more than %d bytes after decompression, or a length in it is wrong.", MaxBytes)
	}
	a.left -= int(size)
	return a.decompress(a.codec, part[8:], int(size))
}
