package mapping

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vayu/ingest/source/described/record"
	"vayu/ingest/source/described/timestamp"
	"vayu/ingest/source/file/table"
	"vayu/internal/config/section"
)

// List defines how the entries of a list of partitions or stations are read. An entry has text fields with names. A
// List is immutable.
type List struct {
	Records record.Records

	names []string
	paths map[string][]record.Path
	only  map[string][]string // accepted values of a field, by the field's name
	last  *timestamp.Clock    // reads the time of an entry's newest reading; nil for none
}

// Walk reads all pages of one list. It is not safe for concurrent use.
type Walk struct {
	l       *List
	last    *timestamp.Clock // copy of List.last, which caches times
	walked  int              // number of records
	without map[string]int
}

// NewWalk returns a walk that has read no page yet.
func (l *List) NewWalk() *Walk {
	w := &Walk{l: l, without: make(map[string]int)}
	if l.last != nil {
		last := *l.last
		w.last = &last
	}
	return w
}

// ReadList reads a section that defines a list: the keys of [record.Read], and the keys `fields`, `only` and `last`.
func ReadList(s *section.Section) *List {
	l := &List{Records: record.Read(s), paths: make(map[string][]record.Path), only: make(map[string][]string)}
	fields := s.Section("fields")
	for _, name := range fields.Names() {
		l.names = append(l.names, name)
		l.paths[name] = record.ReadPaths(fields, name)
	}
	if len(l.names) == 0 {
		s.Faultf("fields", "is missing: names of fields and their paths")
	}
	only := s.Section("only")
	for _, name := range only.Names() {
		l.only[name] = texts(only, name)
		if !slices.Contains(l.names, name) {
			only.Faultf(name, "is none of the fields")
		}
	}
	if last := s.Section("last"); last.Present() {
		c := timestamp.Read(last)
		l.last = &c
	}
	return l
}

// Names returns the names of the fields.
func (l *List) Names() []string { return l.names }

// Page calls `visit` for each entry of a page, except entries that the filter `only` (see List) excludes. `entry` has
// the fields. `newest` is the time of the entry's newest reading; zero if unknown. `count` is the number of records.
func (w *Walk) Page(reply record.Reply, visit func(entry map[string]string, newest time.Time) error) (count int, err error) {
	return w.l.Records.Walk(reply, nil, func(f *record.Frame) error { return w.entry(f, visit) })
}

// Read calls `visit` for each entry in a file, except entries that the filter `only` (see List) excludes.
func (l *List) Read(in *table.Input, visit func(map[string]string) error) error {
	w, f := l.NewWalk(), &record.Frame{}
	_, err := l.Records.Scan(in, f, func(int64) error {
		if f.Bad {
			return nil
		}
		return w.entry(f, func(entry map[string]string, _ time.Time) error { return visit(entry) })
	})
	return err
}

// entry calls `visit` for each entry in a record, except entries that the filter `only` (see List) excludes.
func (w *Walk) entry(f *record.Frame, visit func(entry map[string]string, newest time.Time) error) error {
	l := w.l
	w.walked++
	seen, err := l.Records.WalkEach(f, func() error {
		var newest time.Time
		if w.last != nil {
			newest, _, _, _ = w.last.Of(f, newest) // ignores the length of the interval, which may be many years
		}
		entry := make(map[string]string, len(l.names))
		for _, name := range l.names {
			text, seen := f.Text(l.paths[name])
			w.note(name, seen)
			if text != "" {
				entry[name] = strings.Clone(text)
			}
		}
		for name, accepted := range l.only {
			if !slices.Contains(accepted, entry[name]) {
				return nil
			}
		}
		return visit(entry, newest)
	})
	w.note(l.Records.Each, seen)
	return err
}

// note counts in w.without how many entries lack the field `name`. Once an entry has the field, the count stays -1.
func (w *Walk) note(name string, seen bool) {
	if seen || w.without[name] < 0 {
		w.without[name] = -1
		return
	}
	w.without[name]++
}

// Unlisted returns an error text about the first field that no record has, or "" if there is no such field.
func (w *Walk) Unlisted() string {
	for _, name := range append(slices.Clone(w.l.names), w.l.Records.Each) {
		if n := w.without[name]; n > 0 && name != "" {
			return fmt.Sprintf("none of %d records has the field %q; the API may have renamed it", w.walked, name)
		}
	}
	return ""
}
