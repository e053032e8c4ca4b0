package dump

import (
	"bytes"
	"database/sql"
	"strings"
	"testing"
)

// every has a column of each kind.
var every = []column{{"t", text}, {"i", integer}, {"b", binary}}

func TestParseRowRejectsInvalidRows(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"t":"","i":1,"b":""}`:                    "",
		`{"t":null,"i":null,"b":null}`:             "",
		`{"t":"","i":9223372036854775808,"b":""}`:  "out of range",
		`{"t":"","i":1.0,"b":""}`:                  "invalid syntax",
		`{"t":"","i":"1","b":""}`:                  "invalid syntax",
		`{"t":1,"i":1,"b":""}`:                     "cannot unmarshal",
		`{"t":"","i":1,"b":"a"}`:                   "illegal base64",
		`{"t":"","i":1}`:                           "2 columns",
		`{"t":"","i":1,"x":""}`:                    `"b" is missing`,
		`{"t":"","i":1,"b":"","x":1}`:              "4 columns",
		`[]`:                                       "cannot unmarshal",
		``:                                         "unexpected end",
		`{"t":"","i":1,"b":""} {}`:                 "after top-level value",
		`{"t":"","i":-9223372036854775808,"b":""}`: "",
	} {
		_, err := parseRow(every, []byte(line))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", line, err, want)
		}
	}
}

func TestInvalidUTF8IsNotDumped(t *testing.T) {
	t.Parallel()
	row := newCells(every[:1])
	*row.dest[0].(*sql.Null[string]) = sql.Null[string]{V: "\xff", Valid: true}
	if line, err := row.appendJSON(nil); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("got %s, %v", line, err)
	}
}

// Written rows are read back; unreadable rows are errors.
func FuzzRow(f *testing.F) {
	f.Add("text", int64(1), []byte("bytes"), `{"t":"","i":1,"b":""}`)
	f.Add("\u2028\x00\"\\", int64(-1)<<63, []byte{}, `{"t":null}`)
	f.Fuzz(func(t *testing.T, s string, number int64, raw []byte, line string) {
		_, _ = parseRow(every, []byte(line))
		row := newCells(every)
		*row.dest[0].(*sql.Null[string]) = sql.Null[string]{V: s, Valid: true}
		*row.dest[1].(*sql.Null[int64]) = sql.Null[int64]{V: number, Valid: true}
		*row.dest[2].(*sql.Null[[]byte]) = sql.Null[[]byte]{V: raw, Valid: true}
		written, err := row.appendJSON(nil)
		if err != nil {
			return
		}
		got, err := parseRow(every, bytes.TrimSpace(written))
		switch {
		case err != nil:
			t.Errorf("%q: %v", written, err)
		case got[0] != s:
			t.Errorf("%q: got[0] = %v, want %v", written, got[0], s)
		case got[1] != number:
			t.Errorf("%q: got[1] = %v, want %v", written, got[1], number)
		case !bytes.Equal(got[2].([]byte), raw):
			t.Errorf("%q: got[2].([]byte) = %v, want %v", written, got[2].([]byte), raw)
		}
	})
}
