package batch

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// A chunk has this many records, or fewer when they are large: those after which it
// has chunkBytes. A hundred records of a recharge are some 15 KB.
const (
	chunkRecords = 100
	chunkBytes   = 64 << 10
)

// wanted is the body of a batch, taken apart. Its chunks are parts of the body's
// bytes: nothing of them is copied, and no record is looked at.
type wanted struct {
	ref    string // "" for none
	total  int
	chunks []piece
}

// piece is a chunk before it is stored.
type piece struct {
	first, count int
	from, to     int // of the body
	duplicates   []duplicate
}

// checked is a body of which only its form is asked for.
type checked struct{}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (*checked) UnmarshalJSONFrom(d *jsontext.Decoder) error { return d.SkipValue() }

// read takes the body of a call apart, with every fault of the whole.
func (k *Kind) read(c *httpapi.Call) (wanted, error) {
	if _, err := httpapi.Parameters(c.URL.RawQuery); err != nil {
		return wanted{}, err
	}
	if _, err := httpapi.Decode[checked](c); err != nil {
		return wanted{}, err
	}
	b := body{kind: k, refs: map[string]int{}}
	if err := b.read(c.Body); err != nil {
		return wanted{}, err
	}
	return b.wanted, b.faults.Problem()
}

// body is a batch's body while it is read.
type body struct {
	wanted

	kind   *Kind
	array  bool           // the array was there
	refs   map[string]int // index of the first record with a ref_id
	faults schema.Faults
}

// read reads a JSON object that is well-formed: errors are not to be expected.
func (b *body) read(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true)) // they are refused already
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != jsontext.KindEndObject {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		switch name := token.String(); name {
		case b.kind.Array:
			err = b.records(d)
		case "ref_id":
			err = b.refID(d)
		default:
			err = d.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	if !b.array {
		b.fault("The " + b.kind.Array + " are missing: an array of 1 to 10,000 of them.")
	}
	return nil
}

func (b *body) fault(message string) {
	b.array = true // said once
	b.faults.Add(b.kind.Array, message)
}

// refID reads the client's name of the batch.
func (b *body) refID(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case jsontext.KindNull:
		return d.SkipValue()
	case jsontext.KindString:
	default:
		b.faults.Add("ref_id", "ref_id must be text.")
		return d.SkipValue()
	}
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	if b.ref = token.String(); !schema.IsRef(b.ref) {
		b.faults.Add("ref_id", "A ref_id has 1 to 255 printable characters.")
	}
	return nil
}

// records cuts the array into pieces. Where a value of it begins is known from where
// it ends.
func (b *body) records(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case jsontext.KindNull:
		return d.SkipValue() // counts as absent
	case jsontext.KindBeginArray:
	default:
		b.fault(b.kind.Array + " must be an array.")
		return d.SkipValue()
	}
	b.array = true
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for ; d.PeekKind() != jsontext.KindEndArray; b.total++ {
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		end := int(d.InputOffset())
		b.add(end-len(value), end)
		b.note(value)
	}
	if b.total == 0 || b.total > schema.BatchMost {
		b.fault("A batch has 1 to 10,000 " + b.kind.Array + ".")
	}
	_, err := d.ReadToken()
	return err
}

// note finds an earlier record with the same ref_id, and marks this one in its chunk as
// a duplicate. Records are worked on at the same time, so that only the order in the
// body tells which of them counts.
func (b *body) note(value []byte) {
	ref := refOf(value)
	if ref == "" || b.total >= schema.BatchMost {
		return
	}
	if first, there := b.refs[ref]; there {
		last := &b.chunks[len(b.chunks)-1]
		last.duplicates = append(last.duplicates, duplicate{index: b.total, first: first})
		return
	}
	b.refs[ref] = b.total
}

// add puts a record into the last piece, or begins one.
func (b *body) add(from, to int) {
	if b.total >= schema.BatchMost {
		return // one too many is enough to know
	}
	if n := len(b.chunks); n > 0 {
		last := &b.chunks[n-1]
		if last.count < chunkRecords && to-last.from <= chunkBytes {
			last.count++
			last.to = to
			return
		}
	}
	b.chunks = append(b.chunks, piece{first: b.total, count: 1, from: from, to: to})
}
