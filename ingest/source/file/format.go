package file

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/ingest/fetch"
)

// format is one file format, with its detection by the head and its parser.
type format struct {
	name  string
	match func(h *head) bool
	parse func(in *source, b *ingest.Builder) error
}

// formats returns every known format, in the order of detection.
func formats() []format {
	return []format{
		{"CPCB feed XML", func(h *head) bool { return h.begins("<") && h.holds("<AqIndex") }, parseFeed},
		{"CAAQM JSON", func(h *head) bool { return h.begins("{") && h.holds(`"tabularData"`) }, parseJSON},
		{"data.gov.in JSON", (*head).listing, parseRecords},
		{"CAAQM Excel", func(h *head) bool { return h.begins("PK\x03\x04") }, parseExcel},
		{"data.gov.in CSV", func(h *head) bool { return h.table.is(newListing) }, rows(newListing)},
		{"OpenAQ v1 CSV", func(h *head) bool { return h.table.is(newOpenAQ1) }, rows(newOpenAQ1)},
		{"OpenAQ v2 CSV", func(h *head) bool { return h.table.is(newOpenAQ2) }, rows(newOpenAQ2)},
		{"OpenAQ archive CSV", func(h *head) bool { return h.table.is(newArchive) }, rows(newArchive)},
		{"OpenAQ v3 JSON", (*head).openaq3, parseOpenAQ3},
		{"CAAQM table", func(h *head) bool { return h.table.is(newSpans) }, rows(newSpans)},
		{"CAAQM table without ends", func(h *head) bool { return h.table.is(newStarts) }, rows(newStarts)},
		{"CAAQM export CSV", func(h *head) bool { return h.export() }, parseExport},
		{"CAAQM readings of one station", func(h *head) bool { return h.table.is(newWide) }, rows(newWide)},
		{"station list", func(h *head) bool { return h.table.is(newStationList) }, func(*source, *ingest.Builder) error { return nil }},
		{"city_day CSV", func(h *head) bool { return h.table.is(newCityDay) }, rows(newCityDay)},
	}
}

// head is the beginning of a file's text, from which its format is detected.
type head struct {
	text  []byte
	table header
}

func (h *head) begins(prefix string) bool {
	return bytes.HasPrefix(bytes.TrimLeft(h.text, " \t\r\n"), []byte(prefix))
}

func (h *head) holds(part string) bool { return bytes.Contains(h.text, []byte(part)) }

// export reports whether one of the first lines is the table header of a CAAQM
// export. Such an export has lines about the station before it.
func (h *head) export() bool {
	for i, line := range bytes.Split(h.text, []byte{'\n'}) {
		if i > 100 {
			return false
		}
		if newHeader(bytes.Clone(line)).span() {
			return true
		}
	}
	return false
}

// parseFeed reads a saved reply of CPCB's live feed; it cannot be resumed.
func parseFeed(in *source, b *ingest.Builder) error {
	text, err := in.text()
	if err != nil {
		return err
	}
	defer text.Close()
	return cpcbformat.ParseFeed(limited(text), b)
}

// recognise reads the head of a file and detects the format.
func recognise(file *source) (*format, error) {
	text, err := file.text()
	if err != nil {
		return nil, err
	}
	defer text.Close()
	h := &head{}
	h.text, err = text.Peek(min(headBytes, text.Size()))
	if len(h.text) == 0 {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return nil, refuse("the file is empty")
	}
	if fetch.IsHTML(h.text) {
		return nil, refuse("a web page (HTML) in place of data")
	}
	first, _, _ := bytes.Cut(h.text, []byte{'\n'})
	h.table = newHeader(bytes.Clone(first))
	if known, ok := match(h); ok {
		return known, nil
	}
	if !plain(first) {
		return nil, refuse("the file is neither UTF-8 nor UTF-16 text, nor a known kind of document")
	}
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return nil, refuse("the format is not known; known are %s", strings.Join(names, ", "))
}

// match returns the first format that matches a head.
func match(h *head) (*format, bool) {
	all := formats()
	for i := range all {
		if all[i].match(h) {
			return &all[i], true
		}
	}
	return nil, false
}
