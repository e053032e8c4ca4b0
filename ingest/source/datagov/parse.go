package datagov

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"vayu/ingest"
	"vayu/ingest/network"
	"vayu/schema"
	"vayu/schema/parameter"
)

// stalledPages is how many pages in a row of a first look may bring nothing
// new: the order of the portal's pages is unstable, so one may, but then the
// listing goes on.
const stalledPages = 3

// scalar is a JSON string or number as it was written: the portal gives either.
type scalar string

// UnmarshalJSON implements [json.Unmarshaler].
func (s *scalar) UnmarshalJSON(raw []byte) error {
	switch {
	case len(raw) > 0 && raw[0] == '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		*s = scalar(strings.TrimSpace(text))
	case string(raw) == "null":
		*s = ""
	case len(raw) > 0 && (raw[0] == '{' || raw[0] == '['):
		return errors.New("an object or a list where a value belongs")
	default:
		*s = scalar(raw)
	}
	return nil
}

// record is one pollutant of one station. The resource's JSON names its figure
// avg_value, its download pollutant_avg.
type record struct {
	State        scalar `json:"state"`
	City         scalar `json:"city"`
	Station      scalar `json:"station"`
	LastUpdate   scalar `json:"last_update"`
	Latitude     scalar `json:"latitude"`
	Longitude    scalar `json:"longitude"`
	Pollutant    scalar `json:"pollutant_id"`
	Average      scalar `json:"avg_value"`
	PollutantAvg scalar `json:"pollutant_avg"`
}

// key is what makes two records the same.
type key struct{ station, pollutant, at scalar }

// listing collects the records of the pages of one fetch.
type listing struct {
	records    []record
	seen       map[key]bool
	total      int // as the portal says, -1 when it does not
	read       int // records of the pages of this look, repeated ones included
	duplicates int // of the first look
	stalled    int
	second     bool // this look is the second
}

func newListing() *listing { return &listing{seen: make(map[key]bool)} }

// page takes in the next page and reports whether it was the last.
func (l *listing) page(body []byte) (done bool, err error) {
	if !utf8.Valid(body) {
		return false, refuse("the page is not UTF-8")
	}
	var p struct {
		Total   scalar    `json:"total"`
		Message scalar    `json:"message"`
		Records *[]record `json:"records"`
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return false, refuse("the page is not the portal's JSON: " + err.Error())
	}
	if p.Records == nil {
		return false, refuse(fmt.Sprintf("the page has no records; the portal says %.100q", p.Message))
	}
	if !l.second { // the first look's total is one that the pages have borne out
		if l.total, err = strconv.Atoi(string(p.Total)); err != nil {
			l.total = -1 // not given: the listing ends with an empty page
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
	return l.total < 0 && count == 0 || l.total >= 0 && l.read >= l.total, l.fault(count, fresh)
}

// missing is how many of the records that the portal counts were not met.
func (l *listing) missing() int { return max(0, l.total-len(l.records)) }

// again begins the second look.
func (l *listing) again() { l.read, l.second = 0, true }

// fault says why a first look cannot go on after a page.
func (l *listing) fault(count, fresh int) error {
	switch {
	case len(l.records) == 0:
		return refuse("the listing is empty")
	case count == 0 && l.read < l.total:
		return refuse(fmt.Sprintf("an empty page after %d of %d records", l.read, l.total))
	case count > 0 && fresh == 0:
		if l.stalled++; l.stalled == stalledPages {
			return refuse(fmt.Sprintf("the portal repeats its pages: %d in a row bring nothing new", stalledPages))
		}
	default:
		l.stalled = 0
	}
	return nil
}

// add adds all records to b.
func (l *listing) add(b *ingest.Builder) error {
	for range l.duplicates {
		b.Reject(ingest.Duplicate)
	}
	for range l.missing() {
		b.Reject(ingest.NotListed)
	}
	stations := make(map[scalar]int)
	for i := range l.records {
		if err := addRecord(b, &l.records[i], stations); err != nil {
			return err
		}
	}
	return nil
}

func addRecord(b *ingest.Builder, r *record, stations map[scalar]int) error {
	if schema.Slug(string(r.Station)) == "" {
		b.Reject(ingest.NoStation)
		return nil
	}
	station, ok := stations[r.Station]
	if !ok {
		lat, lon, reason := network.Position(string(r.Latitude), string(r.Longitude))
		if reason != ingest.None {
			b.Reject(reason)
		}
		station = b.Station(network.Station(string(r.Station), string(r.City), string(r.State), lat, lon))
		stations[r.Station] = station
	}
	figure := r.Average
	if figure == "" {
		figure = r.PollutantAvg
	}
	p, _ := parameter.Parse(string(r.Pollutant))
	at, _ := network.ParseStamp(r.LastUpdate)
	reading, reason := network.SubIndex(p, at, string(figure))
	if reason != ingest.None {
		b.Reject(reason)
		return nil
	}
	return b.Add(station, reading)
}
