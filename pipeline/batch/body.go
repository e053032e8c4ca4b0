package batch

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// Limits of a chunk: it ends at chunkRecords records, or earlier when it reaches
// chunkBytes. A hundred recharges have some 15 KB.
const (
	chunkRecords = 100
	chunkBytes   = 64 << 10
)

// parsedBody is a batch as the client sent it. Its chunks are ranges of the body; records are
// neither copied nor validated.
type parsedBody struct {
	ref    string // "" for none
	total  int
	chunks []chunkRange
}

// chunkRange is a chunk before it is stored.
type chunkRange struct {
	first, count int
	from, to     int // byte offsets in the body
	duplicates   []duplicate
}

// anyJSON checks the syntax of a body.
type anyJSON struct{}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (*anyJSON) UnmarshalJSONFrom(d *jsontext.Decoder) error { return d.SkipValue() }

// read parses the body of a call and reports every fault that is not in a record.
func (k *Kind) read(c *httpapi.Call) (parsedBody, error) {
	if _, err := httpapi.Parameters(c.URL.RawQuery); err != nil {
		return parsedBody{}, err
	}
	if _, err := httpapi.Decode[anyJSON](c); err != nil {
		return parsedBody{}, err
	}
	b := body{kind: k, refs: map[string]int{}}
	if err := b.read(c.Body); err != nil {
		return parsedBody{}, err
	}
	return b.parsedBody, b.faults.Problem()
}

// body is the state of parsing a batch's body.
type body struct {
	parsedBody

	kind   *Kind
	array  bool           // the array was found
	refs   map[string]int // index of the first record with each ref_id
	faults schema.RequestErrors
}

// read parses a well-formed JSON object, so errors are not expected.
func (b *body) read(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true)) // duplicate names were rejected before
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
	b.array = true // avoids a second fault
	b.faults.Add(b.kind.Array, message)
}

// refID reads the client's reference of the batch.
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

// records splits the array into chunks. The decoder gives the end of a value, not its start.
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
		b.markDuplicate(value)
	}
	if b.total == 0 || b.total > schema.MaxBatchRecords {
		b.fault("A batch has 1 to 10,000 " + b.kind.Array + ".")
	}
	_, err := d.ReadToken()
	return err
}

// markDuplicate marks a record as a duplicate if an earlier one has its ref_id. Records
// are processed concurrently, so only their order in the body decides which one counts.
func (b *body) markDuplicate(value []byte) {
	ref := refOf(value)
	if ref == "" || b.total >= schema.MaxBatchRecords {
		return
	}
	if first, there := b.refs[ref]; there {
		last := &b.chunks[len(b.chunks)-1]
		last.duplicates = append(last.duplicates, duplicate{index: b.total, first: first})
		return
	}
	b.refs[ref] = b.total
}

// add adds a record to the last chunk, or starts a new one.
func (b *body) add(from, to int) {
	if b.total >= schema.MaxBatchRecords {
		return // one too many is enough for the fault
	}
	if n := len(b.chunks); n > 0 {
		last := &b.chunks[n-1]
		if last.count < chunkRecords && to-last.from <= chunkBytes {
			last.count++
			last.to = to
			return
		}
	}
	b.chunks = append(b.chunks, chunkRange{first: b.total, count: 1, from: from, to: to})
}
