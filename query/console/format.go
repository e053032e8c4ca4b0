package console

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/xrash/smetrics"
)

// format is a format in which the console writes results.
type format struct {
	name     string     // in ClickHouse
	settings url.Values // ClickHouse settings of each statement
	table    bool       // the console writes a table
	joins    bool       // the results of two statements, one after the other, are a valid file of this format
}

// own maps the console's own names of formats to formats. Their results are as in earlier releases: instants in ISO
// 8601 and UTC, NULL as an empty field of CSV, and numbers of 64 bits without quotes.
var own = map[string]format{
	"table": {name: "JSONCompactEachRowWithNamesAndTypes", table: true, joins: true, settings: url.Values{
		"date_time_output_format": {"iso"}, "output_format_json_quote_64bit_integers": {"0"}, "output_format_json_quote_denormals": {"1"},
	}},
	"csv": {name: "CSVWithNames", joins: true, settings: url.Values{
		"date_time_output_format": {"iso"}, "format_csv_null_representation": {""},
		"output_format_csv_serialize_tuple_into_separate_columns": {"0"},
	}},
	"json": {name: "JSONEachRow", joins: true, settings: url.Values{
		"date_time_output_format": {"iso"}, "output_format_json_quote_64bit_integers": {"0"}, "output_format_json_quote_denormals": {"0"},
	}},
	"arrow": {name: "ArrowStream"},
}

// Formats are the formats of the console. All formats of ClickHouse can be used as well.
var Formats = []string{"table", "csv", "json", "arrow"}

// extensions maps the extensions of file names to formats.
var extensions = map[string]string{
	".csv": "csv", ".tsv": "TSVWithNames", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".parquet": "Parquet",
	".arrow": "Arrow", ".arrows": "arrow", ".feather": "Arrow", ".orc": "ORC", ".avro": "Avro", ".md": "Markdown", ".xml": "XML",
}

// FormatOf returns the format for the extension of a file name; "" if there is none.
func FormatOf(file string) string {
	if at := strings.LastIndexByte(file, '.'); at >= 0 {
		return extensions[strings.ToLower(file[at:])]
	}
	return ""
}

// findFormat returns the console's own format `name`, or else ClickHouse's format of that name in any letter case. So
// "json" (the console's) is one line for each row, as in earlier releases. "JSON" (ClickHouse's) is one document.
func (c *Console) findFormat(ctx context.Context, name string) (format, error) {
	if name == "" {
		name = "table"
	}
	if f, ok := own[name]; ok {
		return f, nil
	}
	rows, err := c.rows(ctx, "SELECT name FROM system.formats WHERE is_output ORDER BY name")
	if err != nil {
		return format{}, err
	}
	known := slices.Clone(Formats)
	for _, row := range rows {
		if strings.EqualFold(row[0], name) {
			return format{name: row[0], joins: !document(row[0])}, nil
		}
		known = append(known, row[0])
	}
	if f, ok := own[strings.ToLower(name)]; ok { // such as TABLE, which is no format of ClickHouse
		return f, nil
	}
	return format{}, fmt.Errorf("there is no format %q; did you mean %s?", name, strings.Join(nearest(name, known, 3), ", "))
}

// document reports whether a result in a format is a whole document, so that no second result can follow.
func document(name string) bool {
	switch name {
	case "Parquet", "Arrow", "ArrowStream", "ORC", "Avro", "Npy", "PNG", "XML", "GeoJSON":
		return true
	}
	return strings.HasPrefix(name, "JSON") && !strings.Contains(name, "EachRow") && !strings.Contains(name, "Lines") && name != "JSONL"
}

// nearest returns the names that are most similar to `name`, the most similar first.
func nearest(name string, names []string, limit int) []string {
	similar := func(s string) float64 { return smetrics.JaroWinkler(strings.ToLower(name), strings.ToLower(s), 0.7, 4) }
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int {
		switch x, y := similar(a), similar(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return names[:min(limit, len(names))]
}
