package file

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/ingest/fetch"
	"vayu/ingest/source/file/openaq"
	"vayu/ingest/source/file/table"
)

// format is a file format: its name, its test of a head, and its parser.
type format struct {
	name  string
	match func(h *head) bool
	parse func(in *table.Input, b *ingest.Builder) error
}

// formats returns every known format, in the order of detection.
func formats() []format {
	return []format{
		{"CPCB feed XML", func(h *head) bool { return h.begins("<") && h.holds("<AqIndex") }, parseFeed},
		{"CAAQM JSON", func(h *head) bool { return h.begins("{") && h.holds(`"tabularData"`) }, parseJSON},
		{"data.gov.in JSON", (*head).listing, parseRecords},
		{"CAAQM Excel", func(h *head) bool { return h.begins("PK\x03\x04") }, parseExcel},
		{"data.gov.in CSV", func(h *head) bool { return h.table.Is(newListing) }, table.Rows(newListing)},
		{"OpenAQ v1 CSV", func(h *head) bool { return h.table.Is(openaq.NewVersion1) }, table.Rows(openaq.NewVersion1)},
		{"OpenAQ v2 CSV", func(h *head) bool { return h.table.Is(openaq.NewVersion2) }, table.Rows(openaq.NewVersion2)},
		{"OpenAQ archive CSV", func(h *head) bool { return h.table.Is(openaq.NewArchive) }, table.Rows(openaq.NewArchive)},
		{"OpenAQ v3 JSON", (*head).openaq3, openaq.ParsePage},
		{"CAAQM table", func(h *head) bool { return h.table.Is(newSpans) }, table.Rows(newSpans)},
		{"CAAQM table without ends", func(h *head) bool { return h.table.Is(newStarts) }, table.Rows(newStarts)},
		{"CAAQM export CSV", func(h *head) bool { return h.export() }, parseExport},
		{"CAAQM readings of one station", func(h *head) bool { return h.table.Is(newWide) }, table.Rows(newWide)},
		{"station list", func(h *head) bool { return h.table.Is(newStationList) }, func(*table.Input, *ingest.Builder) error { return nil }},
		{"city_day CSV", func(h *head) bool { return h.table.Is(newCityDay) }, table.Rows(newCityDay)},
	}
}

// head is the beginning of a file's text, from which its format is detected.
type head struct {
	text  []byte
	table table.Header
}

func (h *head) begins(prefix string) bool {
	return bytes.HasPrefix(bytes.TrimLeft(h.text, " \t\r\n"), []byte(prefix))
}

func (h *head) holds(part string) bool { return bytes.Contains(h.text, []byte(part)) }

// export reports whether one of the first lines is the table header of a CAAQM export.
// Such an export has lines about the station before the header.
func (h *head) export() bool {
	for i, line := range bytes.Split(h.text, []byte{'\n'}) {
		if i > 100 {
			return false
		}
		if table.NewHeader(bytes.Clone(line)).Span() {
			return true
		}
	}
	return false
}

// openaq3 reports whether a head begins a page of OpenAQ's third version.
func (h *head) openaq3() bool {
	return h.begins("{") && h.holds(`"results"`) && h.holds(`"openaq-api"`)
}

// parseFeed reads a saved reply of CPCB's live feed. An interrupted import of such a
// file starts again at its beginning.
func parseFeed(in *table.Input, b *ingest.Builder) error {
	text, err := in.Text()
	if err != nil {
		return err
	}
	defer text.Close()
	return cpcbformat.ParseFeed(table.Limit(text), b)
}

// recognise reads the head of a file and detects the format.
func recognise(file *table.Input) (*format, error) {
	text, err := file.Text()
	if err != nil {
		return nil, err
	}
	defer text.Close()
	h := &head{}
	h.text, err = text.Peek(min(table.HeadBytes, text.Size()))
	if len(h.text) == 0 {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return nil, table.Refuse("the file is empty")
	}
	if fetch.IsHTML(h.text) {
		return nil, table.Refuse("a web page (HTML) in place of data")
	}
	first, _, _ := bytes.Cut(h.text, []byte{'\n'})
	h.table = table.NewHeader(bytes.Clone(first))
	if known, ok := match(h); ok {
		return known, nil
	}
	if !table.Plain(first) {
		return nil, table.Refuse("the file is neither UTF-8 nor UTF-16 text, nor a known kind of document")
	}
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return nil, table.Refuse("the format is not known; known are %s", strings.Join(names, ", "))
}

func match(h *head) (*format, bool) {
	all := formats()
	for i := range all {
		if all[i].match(h) {
			return &all[i], true
		}
	}
	return nil, false
}
