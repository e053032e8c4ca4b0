package datagov

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
)

// stalledPages is the number of consecutive pages without a new record at which the first pass fails. A single such
// page is normal, because the order of records is unstable.
const stalledPages = 3

// key identifies a record: a value of a pollutant at a station and a time.
type key struct{ station, pollutant, at cpcbformat.Scalar }

// listing collects the records of the pages of one fetch.
type listing struct {
	records    []cpcbformat.Record
	seen       map[key]bool
	total      int // number of records that the portal states, -1 if it states none
	read       int // number of records read in this pass, including duplicates
	duplicates int // number of duplicates in the first pass
	stalled    int
	second     bool // the second pass is running
}

func newListing() *listing { return &listing{seen: make(map[key]bool)} }

// addPage adds the records of the next page, and reports whether no further page is needed.
func (l *listing) addPage(body []byte) (done bool, err error) {
	if !utf8.Valid(body) {
		return false, ingest.BadReplyf("the page is not UTF-8")
	}
	var p struct {
		Total   cpcbformat.Scalar    `json:"total"`
		Message cpcbformat.Scalar    `json:"message"`
		Records *[]cpcbformat.Record `json:"records"`
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return false, ingest.BadReplyf("the page is not the portal's JSON: %v", err)
	}
	if p.Records == nil {
		return false, ingest.BadReplyf("the page has no records; its message is %.100q", p.Message)
	}
	if !l.second { // the second pass keeps the total of the first
		if l.total, err = strconv.Atoi(string(p.Total)); err != nil {
			l.total = -1 // without a total, an empty page ends the listing
		}
	}
	fresh := 0
	for _, r := range *p.Records {
		k := key{r.Station, r.Pollutant, r.LastUpdate}
		if l.seen[k] {
			if !l.second {
				l.duplicates++
			}
			continue
		}
		l.seen[k] = true
		l.records = append(l.records, r)
		fresh++
	}
	count := len(*p.Records)
	l.read += count
	if l.second {
		return count == 0 || l.read >= l.total || l.missing() == 0, nil
	}
	return l.total < 0 && count == 0 || l.total >= 0 && l.read >= l.total, l.pageError(count, fresh)
}

// noteFields passes the names and types of the fields in a page's records to the recorder. It ignores an invalid page,
// for which addPage returns an error.
func noteFields(r *ingest.Recorder, body []byte) {
	var page struct {
		Records []map[string]any `json:"records"`
	}
	_ = json.Unmarshal(body, &page)
	for _, record := range page.Records {
		for name, value := range record {
			is := ingest.ObjectField
			switch value.(type) {
			case nil:
				is = ingest.NullField
			case string:
				is = ingest.TextField
			case float64:
				is = ingest.NumberField
			}
			r.Field(name, is)
		}
	}
}

// missing returns how many records have not been found of the total that the portal states.
func (l *listing) missing() int { return max(0, l.total-len(l.records)) }

// beginSecondPass prepares the listing for reading the pages again.
func (l *listing) beginSecondPass() { l.read, l.second = 0, true }

// pageError returns an error if the first pass cannot continue after a page. `count` is the number of records in the
// page, and `fresh` is the number of those that no earlier page had.
func (l *listing) pageError(count, fresh int) error {
	switch {
	case len(l.records) == 0:
		return ingest.BadReplyf("the listing is empty")
	case count == 0 && l.read < l.total:
		return ingest.BadReplyf("an empty page after %d of %d records", l.read, l.total)
	case count > 0 && fresh == 0:
		if l.stalled++; l.stalled == stalledPages {
			return ingest.BadReplyf("the portal repeats its pages: %d in a row bring nothing new", stalledPages)
		}
	default:
		l.stalled = 0
	}
	return nil
}

// add adds all records to b, and counts the duplicates and the missing records as rejected.
func (l *listing) add(b *ingest.Builder) error {
	for range l.duplicates {
		b.Reject(ingest.Duplicate)
	}
	for range l.missing() {
		b.Reject(ingest.NotListed)
	}
	var all cpcbformat.Records
	for i := range l.records {
		b.Describe(func() (int64, string) {
			text, _ := json.Marshal(&l.records[i]) // a record has only texts, so this cannot fail
			return int64(i + 1), string(text)
		})
		if err := all.Add(b, &l.records[i]); err != nil {
			return err
		}
	}
	return nil
}
