package body

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// duplicate is a record that has the same ref_id as an earlier record of the batch.
type duplicate struct {
	index, first int // indexes of the record, and of the first record with its ref_id
}

// duplicatesMark is the first byte in the stored text of a chunk that has duplicates. After it come
// pairs "index:first", separated by commas, then a line feed and the records. JSON cannot start
// with this byte. The stored text of a chunk without duplicates is just its records.
const duplicatesMark = 1

// Text returns the text that is stored for the chunk. body is the request's body.
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

// CutDuplicates splits the stored text of a chunk into its records and its duplicates. In the
// map, a key is the index of a duplicate, and its value is the index of the first record with
// the same ref_id.
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
