package described

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/source/described/pattern"
	"vayu/ingest/source/file/table"
	"vayu/internal/config/section"
)

// Format is a file format that a description defines, for imports and watched folders.
type Format struct {
	d        *Description
	title    string
	columns  [][]string       // names of required columns in lower case; a table must have one column of each list
	without  []string         // names of columns in lower case; a table must have none of them
	readings int              // least number of columns whose name is a parameter
	name     *pattern.Pattern // pattern of the file's name; nil for any name
	texts    []string         // texts that the beginning of the file must contain
}

// readFormat reads the section `recognise`. It returns nil if there is none.
func readFormat(s *section.Section, d *Description) *Format {
	if !s.Present() {
		return nil
	}
	f := &Format{d: d, title: s.Text("as"), readings: s.Int("readings", 0, 0, 20)}
	if f.title == "" {
		f.title = d.Name
	}
	for _, e := range s.List("columns") {
		var names []string
		for name := range strings.SplitSeq(e.Text, "|") {
			names = append(names, strings.ToLower(strings.TrimSpace(name)))
		}
		f.columns = append(f.columns, names)
	}
	for _, e := range s.List("without") {
		f.without = append(f.without, strings.ToLower(strings.TrimSpace(e.Text)))
	}
	for _, e := range s.List("texts") {
		f.texts = append(f.texts, e.Text)
	}
	if text := s.Text("name"); text != "" {
		var err error
		if f.name, err = pattern.Path(text); err != nil {
			s.Faultf("name", "%w", err)
		}
	}
	if len(f.columns) == 0 && len(f.texts) == 0 && f.name == nil {
		s.Faultf("", "needs columns, texts or name")
	}
	return f
}

// Name implements [file.Format].
func (f *Format) Name() string { return f.title }

// Recognises implements [file.Format].
func (f *Format) Recognises(head []byte, base string) int {
	score := 0
	if f.name != nil {
		if _, ok := f.name.Match(base); !ok {
			return 0
		}
		score++
	}
	for _, text := range f.texts {
		if !bytes.Contains(head, []byte(text)) {
			return 0
		}
		score++
	}
	if f.d.mapping.Records.Table() == nil {
		return score
	}
	header, ok := f.header(head)
	if !ok {
		return 0
	}
	for _, names := range f.columns {
		if header.Find(names...) < 0 {
			return 0
		}
		score++
	}
	if header.Find(f.without...) >= 0 || f.readings > 0 && len(header.Columns()) < f.readings {
		return 0
	}
	return score
}

// header returns the header of a table, or false if the file does not begin like a table of the format.
func (f *Format) header(head []byte) (table.Header, bool) {
	format := f.d.mapping.Records.Table()
	rows, err := format.Open(&table.Input{Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(head)), nil }})
	if err != nil {
		return table.Header{}, false
	}
	defer rows.Close()
	if !format.HasHeader() {
		if _, _, fine, err := rows.Next(); err != nil || !fine {
			return table.Header{}, false
		}
	}
	cells := make([][]byte, len(rows.Columns))
	for i, name := range rows.Columns {
		cells[i] = []byte(name)
	}
	return table.HeaderOf(cells), true
}

// Parse implements [file.Format]. A record's position is its offset in the decoded text, or its number in a JSON list.
func (f *Format) Parse(in *table.Input, b *ingest.Builder, now time.Time) error {
	listed, err := f.d.besides(filepath.Dir(in.Path))
	if err != nil {
		return err
	}
	sink := f.d.mapping.NewSink(b, now, listed)
	b.Describe(sink.Record)
	if err := sink.Read(in, f.fields(in.Path), nil, b.At); err != nil {
		return err
	}
	return f.d.unlisted(sink.Check(), listed)
}

// fields returns the fields that the pattern finds in the name of a file, and the name itself as the field "name".
func (f *Format) fields(path string) map[string]string {
	base := filepath.Base(path)
	var fields map[string]string
	if f.name != nil {
		fields, _ = f.name.Match(base)
	}
	if fields == nil {
		fields = make(map[string]string)
	}
	fields["name"] = base
	return fields
}

// mostLists is the largest number of station lists beside a file. mostListBytes is how many bytes of each list are
// read. A page of 1,000 locations of OpenAQ has about 2 MB.
const (
	mostLists     = 200
	mostListBytes = 8 << 20
)

// readBeside reads the key `beside`: a pattern of the names of station lists in the folder of the data. It returns nil
// if the key is absent.
func readBeside(s *section.Section) *pattern.Pattern {
	text := s.Text("beside")
	if text == "" {
		return nil
	}
	p, err := pattern.Text(text)
	if err != nil {
		s.Faultf("beside", "%w", err)
	}
	return p
}

// besides returns the fields of each station in the station lists of a folder, by the station's id. It returns nil if
// the description has no key `beside`, or the folder is unreadable. It skips unreadable lists.
func (d *Description) besides(folder string) (map[string]map[string]string, error) {
	if d.stations == nil || d.stations.beside == nil {
		return nil, nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, nil //nolint:nilerr // without lists the stations may still be known
	}
	listed := make(map[string]map[string]string)
	read := 0
	for _, entry := range entries {
		if _, ok := d.stations.beside.Match(entry.Name()); !ok || !entry.Type().IsRegular() {
			continue
		}
		if read++; read > mostLists {
			return nil, ingest.BadReplyf("more than %d station lists lie beside the file", mostLists)
		}
		in := &table.Input{Open: func() (io.ReadCloser, error) { return openLimited(filepath.Join(folder, entry.Name())) }}
		_ = d.stations.list.Read(in, func(fields map[string]string) error { // a file may be no list
			if id := fields["id"]; id != "" {
				listed[id] = fields
			}
			return nil
		})
	}
	return listed, nil
}

// unlisted adds a note to an error if the folder of the file has no station list but should have one.
func (d *Description) unlisted(err error, listed map[string]map[string]string) error {
	if err == nil || d.stations == nil || d.stations.beside == nil || len(listed) > 0 {
		return err
	}
	return fmt.Errorf("%w; no station list is beside the file: its name must match the key stations.beside", err)
}

// openLimited opens the first [mostListBytes] of a file.
func openLimited(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(f, mostListBytes), f}, nil
}
