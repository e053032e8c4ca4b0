package tabular

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/ingest/source/file/table"
	"vayu/internal/config/section"
)

// read returns the format of a section csv.
func read(t testing.TB, text string) *Format {
	t.Helper()
	s := section.Parse("test.yaml", []byte(text), func(string) (string, bool) { return "", false })
	f := Read(s)
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	return f
}

func input(text string) *table.Input {
	return &table.Input{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// rows returns the columns and the rows of a table, with ! for a bad row.
func rows(f *Format, text string) (string, error) {
	r, err := f.Open(input(text))
	if err != nil {
		return "", err
	}
	defer r.Close()
	all := []string{strings.Join(r.Columns, "|")}
	for {
		cells, _, fine, err := r.Next()
		if errors.Is(err, io.EOF) {
			return strings.Join(all, "\n"), nil
		}
		if err != nil {
			return "", err
		}
		if !fine {
			cells = []string{"!"}
		}
		all = append(all, strings.Join(cells, "|"))
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ format, text, want string }{
		"found delimiter":  {"{}", "a;b\n1;2\n", "a|b\n1|2"},
		"tab":              {"{delimiter: tab}", "a\tb,c\n1\t2,3\n", "a|b,c\n1|2,3"},
		"no header":        {"{delimiter: '|', columns: [a, b]}", "1|2\r\n3|4", "a|b\n1|2\n3|4"},
		"byte order mark":  {"{}", "\ufeffa,b\n1,2\n", "a|b\n1|2"},
		"apostrophes":      {`{quote: "'"}`, "a,b\n'1,5','it''s'\n", "a|b\n1,5|it's"},
		"no quotes":        {"{quote: none}", "a,b\n\"1,2\"\n", "a|b\n\"1|2\""},
		"open quote":       {"{}", "a,b\n\"1,2\n3,4\n", "a|b\n!\n3|4"},
		"spanning quote":   {"{multiline: true}", "a,b\n\"1\n2\",3\n4,5\n", "a|b\n1\n2|3\n4|5"},
		"quote never ends": {"{multiline: true}", "a,b\n\"1,2\n3,4\n", "a|b\n!"},
		"comment":          {"{comment: '//'}", "// top\na,b\n// row\n1,2\n", "a|b\n1|2"},
		"skip":             {"{skip: 2}", "x\n\na,b\n1,2\n", "a|b\n1|2"},
		"other length":     {"{}", "a,b\n1\n1,2,3\n1,2\n", "a|b\n!\n!\n1|2"},
		"latin":            {"{encoding: latin-1}", "a,b\n\xe9,\xb5\n", "a|b\né|µ"},
		"latin unsaid":     {"{}", "a,b\n\xe9,\xb5\n1,2\n", "a|b\n!\n1|2"},
		"utf-16 unmarked":  {"{encoding: utf-16le}", "a\x00,\x00b\x00\n\x001\x00,\x002\x00", "a|b\n1|2"},
		"utf-16 by mark":   {"{encoding: windows-1252}", "\xfe\xff\x00a\x00,\x00b\x00\n\x001\x00,\x002", "a|b\n1|2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := rows(read(t, c.format), c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnreadableTables(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ format, text, want string }{
		"empty":           {"{}", "", "no header"},
		"skipped":         {"{skip: 3}", "a,b\n", "no header"},
		"web page":        {"{}", "<!doctype html><title>Sorry</title>\n", "HTML"},
		"million columns": {"{}", strings.Repeat("a,", 1_000_000) + "\n", "longer than"},
		"many columns":    {"{}", strings.Repeat("a,", 10_000) + "\n", "more than 4096 columns"},
		"latin header":    {"{}", "\xe9,b\n", "csv.encoding"},
		"quotes":          {"{}", "\"a,b\n", "quotes of the header"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := rows(read(t, c.format), c.text)
			var refused *ingest.BatchError
			if !errors.As(err, &refused) {
				t.Fatalf("got error %v, want one of the type %T", err, refused)
			}
			if refused.Reason != ingest.BadReply || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %s, %q; want %s with %q", refused.Reason, err, ingest.BadReply, c.want)
			}
		})
	}
}

// TestRecord checks the text of a row that spans lines, and its first line.
func TestRecord(t *testing.T) {
	t.Parallel()
	r, err := read(t, "{multiline: true}").Open(input("a,b\n1,2\n\"x\ny\",3\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, want := range []string{"2 1,2", "3 \"x\ny\",3"} {
		if _, _, _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		number, text := r.Record()
		if got := fmt.Sprint(number, " ", text); got != want {
			t.Errorf("record %q, want %q", got, want)
		}
	}
}

// FuzzRows reads arbitrary texts. Every row has a cell for each column, and offsets grow.
func FuzzRows(f *testing.F) {
	formats := []*Format{
		read(f, "{}"), read(f, "{multiline: true, comment: '#', skip: 1}"), read(f, `{delimiter: ";", quote: "'", decimal: ","}`),
		read(f, "{delimiter: '|', columns: [a, b, c], encoding: utf-16le}"), read(f, "{encoding: windows-1252}"),
	}
	for i, text := range []string{"a,b\n1,\"2\"\n", "x\na,b\n\"1\n2\",3", "a;b\n'1';2", "1|2|3\n", "\x1f\x8b"} {
		f.Add(uint8(i), []byte(text))
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		in := &table.Input{Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
		r, err := formats[int(which)%len(formats)].Open(in)
		if err != nil {
			return
		}
		defer r.Close()
		last := int64(-1)
		for {
			cells, at, fine, err := r.Next()
			if err != nil {
				return
			}
			if fine && len(cells) != len(r.Columns) || at <= last {
				t.Fatalf("%d cells of %d columns at %d after %d", len(cells), len(r.Columns), at, last)
			}
			last = at
			r.Record()
		}
	})
}
