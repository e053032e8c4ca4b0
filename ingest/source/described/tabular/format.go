// Package tabular reads tables of text, such as CSV. A description (YAML) defines their form. The package reads one row
// at a time, so a table may be larger than the memory.
package tabular

import (
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"vayu/internal/config"
	"vayu/internal/config/section"
)

// Format defines the form of a table. It is immutable.
type Format struct {
	delimiter byte // 0: choose the delimiter that splits the header into the most columns
	quote     byte // 0: a quote is an ordinary character
	multiline bool // a quoted cell may span lines
	skip      int  // lines before the header
	columns   []string
	comment   string // prefix of lines that are not rows; "" for none
	charset   encoding.Encoding

	// Decimal is the decimal sign of numbers: a dot or a comma.
	Decimal byte
}

// Limits of a table.
const (
	mostSkipped = 1000
	mostColumns = 4096
)

// charsets are the encodings of a text without a byte order mark; nil stands for UTF-8.
var charsets = map[string]encoding.Encoding{
	"utf-8":        nil,
	"utf-16le":     unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
	"utf-16be":     unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
	"windows-1252": charmap.Windows1252,
	"iso-8859-1":   charmap.ISO8859_1,
	"latin-1":      charmap.ISO8859_1,
	"cp437":        charmap.CodePage437, // of MS-DOS
}

// Read reads the section `csv` of a description.
func Read(s *section.Section) *Format {
	f := &Format{
		delimiter: readDelimiter(s), quote: quotes[s.Choice("quote", `"`, `"`, "'", "none")], multiline: s.Bool("multiline", false),
		skip: s.Int("skip", 0, 0, mostSkipped), comment: s.Text("comment"),
		Decimal: s.Choice("decimal", ".", ".", ",")[0],
	}
	for _, e := range s.List("columns") {
		f.columns = append(f.columns, e.Text)
	}
	if n := len(f.columns); n > mostColumns {
		s.Faultf("columns", "must be at most %d names", mostColumns)
	}
	name := strings.ToLower(s.Text("encoding"))
	charset, known := charsets[name]
	if !known && name != "" {
		s.Faultf("encoding", "%q %w", name, config.UnknownKey(name, []string{"utf-8", "utf-16le", "utf-16be", "windows-1252", "iso-8859-1", "cp437"}))
	}
	f.charset = charset
	if f.quote == f.delimiter && f.quote != 0 {
		s.Faultf("quote", "must differ from the delimiter")
	}
	if len(f.columns) > 0 && f.delimiter == 0 {
		s.Faultf("delimiter", "is missing: a table without a header does not show it")
	}
	if f.multiline && f.quote == 0 {
		s.Faultf("multiline", "needs quotes")
	}
	if f.Decimal == ',' && f.delimiter == ',' {
		s.Faultf("decimal", "must differ from the delimiter")
	}
	return f
}

// readDelimiter reads the key `delimiter`: an ASCII character, "tab" or "space". It returns 0 if the key is absent.
func readDelimiter(s *section.Section) byte {
	text := s.Text("delimiter")
	switch {
	case text == "":
		return 0
	case text == "tab":
		return '\t'
	case text == "space":
		return ' '
	case len(text) == 1 && (text[0] > ' ' || text[0] == '\t') && text[0] <= '~':
		return text[0]
	}
	s.Faultf("delimiter", `must be one character such as ";", tab or space`)
	return 0
}

// quotes maps the values of the key `quote` to quote characters. 0 stands for no quote character.
var quotes = map[string]byte{`"`: '"', "'": '\'', "none": 0}

// HasHeader reports whether tables of the format have a line with the names of their columns.
func (f *Format) HasHeader() bool { return len(f.columns) == 0 }
