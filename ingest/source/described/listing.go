package described

import (
	"context"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/source/described/mapping"
	"vayu/ingest/source/described/pattern"
	"vayu/ingest/source/described/record"
	"vayu/internal/config/section"
)

// listing is a list of partitions (such as sensors) or of stations. Its entries come from a request that precedes the
// requests for readings, from files beside the data, or from the description itself.
type listing struct {
	section string   // section of the description: partitions or stations
	names   []string // names of the fields of an entry
	fixed   []entry
	beside  *pattern.Pattern // pattern of the names of files with the list, in the folder of the data; nil for none
	request request          // request for the list; without a URL if the list is only in such files
	list    *mapping.List
}

// readListing reads the section `partitions` or `stations`. It returns nil if there is no such section.
func (d *Description) readListing(root *section.Section, name string, a auth) *listing {
	s := root.Section(name)
	if !s.Present() {
		return nil
	}
	if fixed := s.Section("fixed"); fixed.Present() {
		return readFixed(fixed)
	}
	l := &listing{section: name, beside: readBeside(s), list: mapping.ReadList(s)}
	if l.names = l.list.Names(); l.beside == nil || s.Section("request").Present() {
		l.request = d.readRequest(s, a, nil)
	}
	return l
}

// readFixed reads partitions that the description itself lists: the name of one field, and its values.
func readFixed(s *section.Section) *listing {
	l := &listing{names: s.Names()}
	if len(l.names) != 1 {
		s.Faultf("", "must have one field with the list of its values")
		return l
	}
	values := s.List(l.names[0])
	for _, e := range values {
		texts := []string{e.Text}
		if len(values) == 1 { // it may be an environment variable that lists several values
			texts = strings.Split(e.Text, ",")
		}
		for _, text := range texts {
			l.fixed = append(l.fixed, entry{fields: map[string]string{l.names[0]: strings.TrimSpace(text)}})
		}
	}
	return l
}

// entry is a partition or station of a list.
type entry struct {
	fields map[string]string
	newest time.Time // time of its newest reading; zero if the list does not state it
}

// fetch returns the entries of the list. It fails if there is no entry because all records lack one of the fields.
func (l *listing) fetch(ctx context.Context, s *Source, window map[string]string) ([]entry, error) {
	if l.list == nil {
		return l.fixed, nil
	}
	var all []entry
	walk := l.list.NewWalk()
	_, err := s.readPages(ctx, &l.request, l.list.Records, window, func(body record.Reply) (int, error) {
		return walk.Page(body, func(fields map[string]string, newest time.Time) error {
			if len(all) >= mostPartitions {
				return ingest.BadReplyf("the API lists more than %d entries", mostPartitions)
			}
			all = append(all, entry{fields, newest})
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	walk.Note(l.section, ingest.PathsOf(ctx))
	if len(all) == 0 {
		if missing := walk.Unlisted(); missing != "" {
			return nil, ingest.BadReplyf("the list has no entry: %s", missing)
		}
	}
	return all, nil
}

// mostPartitions is the largest number of entries in a list. It bounds the memory of the list. OpenAQ has about 6,000
// sensors in India.
const mostPartitions = 200_000
