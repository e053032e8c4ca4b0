package file

import (
	"encoding/json"
	"errors"
	"io"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/ingest/source/file/table"
)

// listingPage is a JSON object from data.gov.in: a saved reply of the resource 3b01bcb8, or a single record of such a
// reply. For a single record, Records is nil.
type listingPage struct {
	cpcbformat.Record
	Records []cpcbformat.Record `json:"records"`
}

// listing reports whether a file begins like a saved reply of data.gov.in. A reply starts with a description of the
// resource, which has the names of the fields.
func (h *head) listing() bool {
	return (h.begins("{") || h.begins("[")) && h.holds(`"last_update"`) && h.holds(`"pollutant_id"`)
}

// parseRecords reads saved replies of data.gov.in: one reply, several in sequence, or a list of replies or records. The
// builder's position in the input is the number of records that precede it.
func parseRecords(in *table.Input, b *ingest.Builder) error {
	text, err := in.Text()
	if err != nil {
		return err
	}
	defer text.Close()
	d := json.NewDecoder(table.Limit(text))
	var all cpcbformat.Records
	n := int64(0)
	add := func(record *cpcbformat.Record) error {
		defer func() { n++ }()
		if n < in.Start {
			return nil
		}
		b.At(n)
		return all.Add(b, record)
	}
	for {
		pages, err := nextPages(d)
		if errors.Is(err, io.EOF) {
			b.At(n)
			return nil
		}
		if err != nil {
			return err
		}
		for i := range pages {
			records := pages[i].Records
			if records == nil {
				records = []cpcbformat.Record{pages[i].Record}
			}
			for j := range records {
				if err := add(&records[j]); err != nil {
					return err
				}
			}
		}
	}
}

// nextPages reads the next JSON value, which is a page or a list of pages.
func nextPages(d *json.Decoder) ([]listingPage, error) {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return nil, unreadable(err)
	}
	var pages []listingPage
	var err error
	if len(raw) > 0 && raw[0] == '[' {
		err = json.Unmarshal(raw, &pages)
	} else {
		pages = make([]listingPage, 1)
		err = json.Unmarshal(raw, &pages[0])
	}
	if err != nil {
		return nil, ingest.BadReplyf("not the JSON of data.gov.in: %v", err)
	}
	return pages, nil
}

// unreadable returns an [ingest.BatchError] for damaged or truncated JSON. It returns other errors, such as an error of
// the reader, unchanged.
func unreadable(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ingest.BadReplyf("the JSON is damaged or cut off: %v", err)
	}
	return err
}
