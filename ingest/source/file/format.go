package file

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/ingest/fetch"
	"vayu/ingest/source/file/openaq"
	"vayu/ingest/source/file/table"
)

// Format is a file format that a source description (YAML) defines. The function `formats` returns the formats in Go.
type Format interface {
	// Name returns the name that users see, such as "OpenAQ archive CSV".
	Name() string
	// Recognises rates how specifically the format describes a file. It returns 0 if the file has another format. The
	// format with the highest rating is used. `head` is the beginning of the text, and `base` is the name of the file.
	Recognises(head []byte, base string) int
	// Parse adds the readings of a file to a builder. The format decides whether positions count bytes or records.
	Parse(in *table.Input, b *ingest.Builder, now time.Time) error
}

// format is a file format: its name, its test of the beginning of a file, and its parser.
type format struct {
	name  string
	broad bool // tried last, because only a few names of columns identify the format
	match func(h *head) bool
	parse func(in *table.Input, b *ingest.Builder) error
}

// formats returns every format written in Go, in the order of detection.
func formats() []format {
	return []format{
		{"CPCB feed XML", false, func(h *head) bool { return h.begins("<") && h.holds("<AqIndex") }, parseFeed},
		{"CAAQM JSON", false, func(h *head) bool { return h.begins("{") && h.holds(`"tabularData"`) }, parseJSON},
		{"data.gov.in JSON", false, (*head).listing, parseRecords},
		{"CAAQM Excel", false, func(h *head) bool { return h.begins("PK\x03\x04") }, parseExcel},
		{"OpenAQ v1 CSV", false, func(h *head) bool { return h.table.Is(openaq.NewVersion1) }, table.Rows(openaq.NewVersion1)},
		{"OpenAQ v2 CSV", false, func(h *head) bool { return h.table.Is(openaq.NewVersion2) }, table.Rows(openaq.NewVersion2)},
		{"OpenAQ v3 JSON", false, (*head).openaq3, openaq.ParsePage},
		{"CAAQM export CSV", true, func(h *head) bool { return h.export() }, parseExport},
		{"CAAQM readings of one station", true, func(h *head) bool { return h.table.Is(newWide) }, table.Rows(newWide)},
		{"station list", true, func(h *head) bool { return h.table.Is(newStationList) }, func(*table.Input, *ingest.Builder) error { return nil }},
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

// export reports whether one of the first lines is the table header of a CAAQM export. In such a file, lines about the
// station precede the header.
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

// openaq3 reports whether the file begins like a page of version 3 of OpenAQ's API.
func (h *head) openaq3() bool {
	return h.begins("{") && h.holds(`"results"`) && h.holds(`"openaq-api"`)
}

// parseFeed reads a saved reply of CPCB's live feed. Its batches have no positions, so an interrupted import starts
// again at the beginning of the file.
func parseFeed(in *table.Input, b *ingest.Builder) error {
	text, err := in.Text()
	if err != nil {
		return err
	}
	defer text.Close()
	return cpcbformat.ParseFeed(table.Limit(text), b)
}

// recognise detects the format from the beginning of a file. It first tries those formats in Go that are not broad,
// then the described formats, and last the broad formats in Go. `now` is passed to [Format.Parse].
func recognise(file *table.Input, described []Format, now time.Time) (*format, error) {
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
		return nil, ingest.BadReplyf("the file is empty")
	}
	if fetch.IsHTML(h.text) {
		return nil, ingest.BadReplyf("a web page (HTML) in place of data")
	}
	first, _, _ := bytes.Cut(h.text, []byte{'\n'})
	h.table = table.NewHeader(bytes.Clone(first))
	if known, ok := match(h, false); ok {
		return known, nil
	}
	if known, err := matchDescribed(h, filepath.Base(file.Path), described, now); known != nil || err != nil {
		return known, err
	}
	if known, ok := match(h, true); ok {
		return known, nil
	}
	if !table.Plain(first) {
		return nil, ingest.BadReplyf("the file is neither UTF-8 nor UTF-16 text, nor a known kind of document")
	}
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	for _, f := range described {
		names = append(names, f.Name())
	}
	return nil, ingest.BadReplyf("the format is not known; known are %s", strings.Join(names, ", "))
}

func match(h *head, broad bool) (*format, bool) {
	all := formats()
	for i := range all {
		if all[i].broad == broad && all[i].match(h) {
			return &all[i], true
		}
	}
	return nil, false
}

// matchDescribed returns the described format that fits a file most specifically, or nil if none fits. If two formats
// fit equally well, it returns an error.
func matchDescribed(h *head, base string, described []Format, now time.Time) (*format, error) {
	var best Format
	most, equal := 0, ""
	for _, f := range described {
		switch n := f.Recognises(h.text, base); {
		case n > most:
			best, most, equal = f, n, ""
		case n == most && n > 0:
			equal = f.Name()
		}
	}
	if equal != "" {
		return nil, ingest.BadReplyf("two descriptions recognise the file: %s, and %s; add columns to the key recognise of one", best.Name(), equal)
	}
	if best == nil {
		return nil, nil
	}
	return &format{name: best.Name(), parse: func(in *table.Input, b *ingest.Builder) error { return best.Parse(in, b, now) }}, nil
}
