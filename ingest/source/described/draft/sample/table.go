package sample

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"vayu/ingest/source/described/tabular"
	"vayu/ingest/source/file/table"
	"vayu/internal/config/section"
)

// ShapeCSV is the shape of records that are the lines of a table of text.
const ShapeCSV = "csv"

// Table defines the form of a table of text. Its fields are keys of the section `csv` in a description. "" means the
// default.
type Table struct{ Delimiter, Decimal, Encoding string }

// decimalComma matches a number with a decimal comma.
var decimalComma = regexp.MustCompile(`^-?[0-9]+,[0-9]+$`)

// decodeTable decodes a table of text. `ok` is false if the body is not a table of at least two columns and one row.
func decodeTable(body []byte) (d Document, ok bool) {
	form := Table{}
	if !utf8.Valid(body) {
		form.Encoding = "windows-1252"
	}
	s := section.Parse("csv", []byte("csv: {encoding: "+scalarOr(form.Encoding, "utf-8")+"}\n"), func(string) (string, bool) { return "", false })
	rows, err := tabular.Read(s.Section("csv")).Open(&table.Input{Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }})
	if err != nil {
		return d, false
	}
	defer rows.Close()
	if len(rows.Columns) < 2 {
		return d, false
	}
	form.Delimiter = delimiterOf(body)
	var all [][]string
	for len(all) < mostRecords {
		cells, _, fine, err := rows.Next()
		if err != nil {
			break
		}
		if !fine {
			continue
		}
		row := make([]string, len(cells))
		for i, cell := range cells {
			row[i] = strings.TrimSpace(cell)
			if form.Delimiter != "," && decimalComma.MatchString(row[i]) {
				row[i], form.Decimal = strings.Replace(row[i], ",", ".", 1), ","
			}
		}
		all = append(all, row)
	}
	text, err := json.Marshal(all)
	if err != nil || len(all) == 0 {
		return d, false
	}
	return Document{Root: gjson.ParseBytes(text), Table: &form, header: rows.Columns}, true
}

func scalarOr(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}

// delimiterOf returns the delimiter of a table's header as a description states it, such as "tab".
func delimiterOf(body []byte) string {
	line, _, _ := bytes.Cut(body, []byte{'\n'})
	if c := table.NewHeader(bytes.Clone(line)).Separator; c != '\t' {
		return string(c)
	}
	return "tab"
}
