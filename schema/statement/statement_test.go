package statement

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestStartOfData(t *testing.T) {
	t.Parallel()
	type found struct{ Text, Format, Data string }
	for text, want := range map[string]found{
		"INSERT INTO t FORMAT Native\n\x01\x02":                 {"INSERT INTO t ", "Native", "\x01\x02"},
		"INSERT INTO t FORMAT RowBinary\n\n":                    {"INSERT INTO t ", "RowBinary", "\n"},
		"INSERT INTO t FORMAT TSV  \r\n\ta":                     {"INSERT INTO t ", "TSV", "\ta"},
		"insert into `a b`.\"format\" (`values`) values (1)":    {"insert into `a b`.\"format\" (`values`) ", "Values", " (1)"},
		"INSERT INTO values VALUES (1)":                         {"INSERT INTO values ", "Values", " (1)"},
		"INSERT INTO format.format FORMAT CSV 1":                {"INSERT INTO format.format ", "CSV", "1"},
		"INSERT INTO TABLE FUNCTION s3('FORMAT x') FORMAT CSV":  {"INSERT INTO TABLE FUNCTION s3('FORMAT x') ", "CSV", ""},
		"/* FORMAT a */ INSERT INTO t -- VALUES\nFORMAT CSV\nx": {"/* FORMAT a */ INSERT INTO t -- VALUES\n", "CSV", "x"},
		"INSERT INTO t SETTINGS a = 'VALUES' FORMAT CSV\nx":     {"INSERT INTO t SETTINGS a = 'VALUES' ", "CSV", "x"},
		"INSERT INTO t; ":   {"INSERT INTO t", "", ""},
		"INSERT INTO t (a)": {"INSERT INTO t (a)", "", ""},
	} {
		st := Parse(text)
		if st.Data < 0 {
			t.Errorf("%q: no data found", text)
			continue
		}
		if diff := cmp.Diff(want, found{st.Text, st.Format, text[st.Data:]}); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

func TestReadStatement(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Statement{
		"SELECT 1": {Verb: "SELECT"},
		"(select 1) UNION ALL (SELECT 2) FORMAT CSV": {Verb: "SELECT", Format: "CSV"},
		"SELECT format(1), 'FORMAT x' AS format":     {Verb: "SELECT"},
		"SELECT 1 FORMAT JSON SETTINGS a = 1;":       {Verb: "SELECT", Format: "JSON"},
		"SELECT $a$; DROP$a$ ; -- more\n;":           {Verb: "SELECT"},
		"SELECT 1; SELECT 2":                         {Verb: "SELECT", Many: true},
		"SELECT 'it''s; \\'; ' ; x":                  {Verb: "SELECT", Many: true},
		"SELECT a WITH TOTALS":                       {Verb: "SELECT"},
		"INSERT INTO t SELECT 1":                     {Verb: "INSERT"},
		"INSERT INTO t (a) (SELECT 1)":               {Verb: "INSERT"},
		"INSERT INTO t FROM INFILE 'x' FORMAT CSV":   {Verb: "INSERT", Format: "CSV"},
		"\ufeff-- only\n# a comment":                 {Empty: true},
		"":                                           {Empty: true},
		"SELECT 1 // ; x\n":                          {Verb: "SELECT"},
		"SELECT /* /* ; */ ; */ 1":                   {Verb: "SELECT"},
		"/* a */ DROP TABLE x /* /* */":              {Verb: "DROP"},
	} {
		want.Text, want.Data = text, -1
		if diff := cmp.Diff(want, Parse(text), cmpopts.IgnoreUnexported(Statement{})); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

func FuzzReadStatement(f *testing.F) {
	for _, seed := range []string{"INSERT INTO t FORMAT CSV\n1", "SELECT '\\", "INSERT INTO a.", "$a$$a$", "/*", "INSERT VALUES", "((", "SELECT `"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		st := Parse(text)
		if st.Data > len(text) || !strings.Contains(text, st.Text) {
			t.Errorf("data at %d of %d, text %q", st.Data, len(text), st.Text)
		}
		if st.Data >= 0 && st.Verb != "INSERT" {
			t.Errorf("%s has data", st.Verb)
		}
	})
}

func TestInto(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SELECT 1":                               "SELECT 1 INTO OUTFILE 'f' TRUNCATE FORMAT CSV",
		"SELECT 1 -- FORMAT x":                   "SELECT 1 INTO OUTFILE 'f' TRUNCATE FORMAT CSV -- FORMAT x",
		"SELECT 1 ; ":                            "SELECT 1 INTO OUTFILE 'f' TRUNCATE FORMAT CSV ;",
		"(SELECT 1) UNION ALL (SELECT 2)":        "(SELECT 1) UNION ALL (SELECT 2) INTO OUTFILE 'f' TRUNCATE FORMAT CSV",
		"SELECT 1 FORMAT JSON SETTINGS a = 1":    "SELECT 1 INTO OUTFILE 'f' TRUNCATE FORMAT JSON SETTINGS a = 1",
		"SELECT format('{}', 1) SETTINGS a = 1":  "SELECT format('{}', 1) SETTINGS a = 1 INTO OUTFILE 'f' TRUNCATE FORMAT CSV",
		"SELECT 1 INTO OUTFILE 'x'":              "",
		"INSERT INTO t SELECT 1":                 "",
		"SHOW TABLES":                            "",
		"SELECT 1 /* a */ FORMAT /* b */ JSON; ": "SELECT 1 INTO OUTFILE 'f' TRUNCATE /* a */ FORMAT /* b */ JSON;",
	} {
		if got, ok := Parse(text).Into("f", "CSV"); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", text, got, ok, want)
		}
	}
}
