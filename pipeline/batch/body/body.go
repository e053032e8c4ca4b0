// Package body parses the body of a request that creates a batch, and splits it into chunks.
package body

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/httpapi"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

// A chunk has at most ChunkRecords records. If it has several records, it has at most chunkBytes bytes. A
// hundred recharges have about 15 KB.
const (
	ChunkRecords = 100
	chunkBytes   = 64 << 10
)

// Body is a batch as the client sent it. Its chunks are byte ranges of the request's body. The
// records are neither copied nor validated.
type Body struct {
	Ref    string // "" for none
	Total  int
	Chunks []Chunk
}

// Chunk is a range of consecutive records that are not stored yet.
type Chunk struct {
	First, Count int

	from, to   int // byte offsets in the body
	duplicates []duplicate
}

// anyJSON is decoded only to check the JSON syntax of a body.
type anyJSON struct{}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (*anyJSON) UnmarshalJSONFrom(d *jsontext.Decoder) error { return d.SkipValue() }

// Parse parses the body of a call. `array` is the name of the JSON array with the records. For invalid JSON, the error
// has only the first fault. Otherwise it lists all faults of the body, except those inside records.
func Parse(c *httpapi.Call, array string) (Body, error) {
	if _, err := httpapi.Decode[anyJSON](c); err != nil {
		return Body{}, err
	}
	b := parser{array: array, refs: map[string]int{}}
	if err := b.read(c.Body); err != nil {
		return Body{}, err
	}
	return b.Body, b.faults.Problem()
}

// parser is the state of parsing a batch's body.
type parser struct {
	Body

	array  string         // name of the array
	found  bool           // the array was found, or a fault of it was reported
	refs   map[string]int // index of the first record with each ref_id
	faults schema.RequestErrors
}

// read parses a JSON object. The caller has checked its syntax, so read returns an error only for a bug.
func (b *parser) read(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true)) // Decode has rejected them
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != jsontext.KindEndObject {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		switch name := token.String(); name {
		case b.array:
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
	if !b.found {
		b.fault("The " + b.array + " are missing. Send an array of 1 to 10,000.")
	}
	return nil
}

func (b *parser) fault(message string) {
	b.found = true // prevents the fault that the array is missing
	b.faults.Add(b.array, message)
}

// refID reads ref_id, the client's reference for the batch.
func (b *parser) refID(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case jsontext.KindNull:
		return d.SkipValue()
	case jsontext.KindString:
	default:
		b.faults.Add("ref_id", "ref_id must be a string.")
		return d.SkipValue()
	}
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	if b.Ref = token.String(); !schema.IsRef(b.Ref) {
		b.faults.Add("ref_id", "A ref_id must have 1 to 255 printable characters.")
	}
	return nil
}

// records splits the array into chunks. The decoder reports the end of a record; the start is the end minus the length.
func (b *parser) records(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case jsontext.KindNull:
		return d.SkipValue() // null means that the array is missing
	case jsontext.KindBeginArray:
	default:
		b.fault(b.array + " must be an array.")
		return d.SkipValue()
	}
	b.found = true
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for ; d.PeekKind() != jsontext.KindEndArray; b.Total++ {
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		end := int(d.InputOffset())
		b.add(end-len(value), end)
		b.markDuplicate(value)
	}
	if b.Total == 0 || b.Total > schema.MaxBatchRecords {
		b.fault("A batch must have 1 to 10,000 " + b.array + ".")
	}
	_, err := d.ReadToken()
	return err
}

// markDuplicate marks a record as a duplicate if an earlier record has the same ref_id. The parser finds duplicates,
// because workers later process the records concurrently, and not in the order of the body.
func (b *parser) markDuplicate(value []byte) {
	ref := item.RefOf(value)
	if ref == "" || b.Total >= schema.MaxBatchRecords {
		return
	}
	if first, there := b.refs[ref]; there {
		last := &b.Chunks[len(b.Chunks)-1]
		last.duplicates = append(last.duplicates, duplicate{index: b.Total, first: first})
		return
	}
	b.refs[ref] = b.Total
}

// add adds the record at the byte range [from, to) to the last chunk, or to a new one if the last chunk is full.
func (b *parser) add(from, to int) {
	if b.Total >= schema.MaxBatchRecords {
		return // the method records rejects a batch with too many records
	}
	if n := len(b.Chunks); n > 0 {
		last := &b.Chunks[n-1]
		if last.Count < ChunkRecords && to-last.from <= chunkBytes {
			last.Count++
			last.to = to
			return
		}
	}
	b.Chunks = append(b.Chunks, Chunk{First: b.Total, Count: 1, from: from, to: to})
}

// duplicate is a record that has the same ref_id as an earlier record of the batch.
type duplicate struct {
	index, first int // indexes of the record, and of the first record with its ref_id
}

// duplicatesMark is the first byte in the stored text of a chunk that has duplicates. JSON cannot start with this
// byte. Pairs "index:first" follow, separated by commas: the two fields of each [duplicate]. Then come a line feed
// and the records. The stored text of a chunk without duplicates is just its records.
const duplicatesMark = 1

// Text returns the text that is stored for the chunk. `body` is the request's body.
func (p *Chunk) Text(body []byte) []byte {
	records := body[p.from:p.to]
	if len(p.duplicates) == 0 {
		return records
	}
	text := make([]byte, 0, 1+12*len(p.duplicates)+len(records))
	text = append(text, duplicatesMark)
	for i, d := range p.duplicates {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(d.index), 10)
		text = append(text, ':')
		text = strconv.AppendInt(text, int64(d.first), 10)
	}
	return append(append(text, '\n'), records...)
}

var errDuplicates = errors.New("the list of duplicates is damaged")

// CutDuplicates splits the stored text of a chunk into its records and its duplicates. In the map, a key is the index
// of a duplicate, and its value is the index of the first record with the same ref_id.
func CutDuplicates(text []byte) (records []byte, duplicates map[int]int, err error) {
	if len(text) == 0 || text[0] != duplicatesMark {
		return text, nil, nil
	}
	list, records, found := bytes.Cut(text[1:], []byte("\n"))
	if !found {
		return nil, nil, errDuplicates
	}
	duplicates = map[int]int{}
	for pair := range strings.SplitSeq(string(list), ",") {
		left, right, _ := strings.Cut(pair, ":")
		index, err := strconv.Atoi(left)
		if err != nil {
			return nil, nil, errDuplicates
		}
		if duplicates[index], err = strconv.Atoi(right); err != nil {
			return nil, nil, errDuplicates
		}
	}
	return records, duplicates, nil
}
