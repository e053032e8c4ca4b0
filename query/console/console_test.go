package console_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnstore/columnstoretest"
	"vayu/query/console"
)

func TestMain(m *testing.M) {
	if os.Getenv(promptVariable) != "" {
		promptChild()
		return
	}
	columnstoretest.Main(m)
}

// every has a column of each type that tables and users' queries have.
const every = `SELECT * FROM (
	SELECT 'Delhi, "the city"' AS city, toDate('2026-11-20') AS day, toDateTime('2026-11-20 06:30:00', 'UTC') AS at,
		toNullable(toFloat64(45.5)) AS pm25, toUInt16(76) AS aqi, CAST('pm25', 'Enum8(\'none\' = 0, \'pm25\' = 1)') AS dominant,
		toLowCardinality('x') AS source, toInt64(-9007199254740993) AS big, true AS flag, ['a', 'b'] AS list, (1, 'b') AS pair, nan AS odd
	UNION ALL
	SELECT '', toDate('1970-01-02'), toDateTime(0, 'UTC'), NULL, 0, 'none', '', 0, false, [], (0, ''), inf)
	ORDER BY aqi DESC`

// run runs a script, and returns what it writes to the standard output and the standard error.
func run(t *testing.T, c console.Config, script string) (out, notes string, err error) {
	t.Helper()
	var results, errs bytes.Buffer
	c = config(t, c)
	c.Out, c.Err = &results, &errs
	err = c.Script(t.Context(), console.Input{Args: []string{script}}, "")
	return results.String(), errs.String(), err
}

func config(t *testing.T, c console.Config) console.Config {
	t.Helper()
	var err error
	if c.HTTP, c.URL, err = columnstoretest.New(t).HTTP(!c.Write); err != nil {
		t.Fatal(err)
	}
	if c.Database == "" {
		c.Database = "default"
	}
	return c
}

func must(t *testing.T, c console.Config, script string) string {
	t.Helper()
	out, notes, err := run(t, c, script)
	if err != nil {
		t.Fatalf("%q: %v", script, err)
	}
	if notes != "" {
		t.Errorf("%q: notes: %s", script, notes)
	}
	return out
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"csv": `"city","day","at","pm25","aqi","dominant","source","big","flag","list","pair","odd"
"Delhi, ""the city""","2026-11-20","2026-11-20T06:30:00Z",45.5,76,"pm25","x",-9007199254740993,true,"['a','b']","(1,'b')",nan
"","1970-01-02","1970-01-01T00:00:00Z",,0,"none","",0,false,"[]","(0,'')",inf
`,
		"json": `{"city":"Delhi, \"the city\"","day":"2026-11-20","at":"2026-11-20T06:30:00Z","pm25":45.5,"aqi":76,"dominant":"pm25","source":"x","big":-9007199254740993,"flag":true,"list":["a","b"],"pair":[1,"b"],"odd":null}
{"city":"","day":"1970-01-02","at":"1970-01-01T00:00:00Z","pm25":null,"aqi":0,"dominant":"none","source":"","big":0,"flag":false,"list":[],"pair":[0,""],"odd":null}
`,
		"tsvRAW": `Delhi, "the city"	2026-11-20	2026-11-20 06:30:00	45.5	76	pm25	x	-9007199254740993	true	['a','b']	(1,'b')	nan
	1970-01-02	1970-01-01 00:00:00	` + "\\N" + `	0	none		0	false	[]	(0,'')	inf
`,
	} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, must(t, console.Config{Format: format}, every)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	want := `┌──────┬──────┬──────────────────────┬───────┐
│ city │ aqi  │          at          │ list  │
├──────┼──────┼──────────────────────┼───────┤
│ Pune │ 50   │ 1970-01-01T00:00:00Z │ ["a"] │
│ Agra │ NULL │ 1970-01-01T00:00:00Z │ ["a"] │
└──────┴──────┴──────────────────────┴───────┘
`
	got := must(t, console.Config{}, "SELECT t.1 AS city, t.2 AS aqi, toDateTime(0, 'UTC') AS at, ['a'] AS list FROM (SELECT arrayJoin([('Pune', 50), ('Agra', NULL)]) AS t)")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	if got := must(t, console.Config{}, "SELECT 1 AS a WHERE 0"); !strings.Contains(got, "│ a │") {
		t.Errorf("an empty result is %q, want a header", got)
	}
	if got := must(t, console.Config{}, "SELECT '\x1b[2J' AS a"); strings.Contains(got, "\x1b") {
		t.Errorf("a table passes control characters to the terminal: %q", got)
	}
}

func TestTableIsCut(t *testing.T) {
	t.Parallel()
	for rows, note := range map[string]string{"10000": "", "10001": "Only the first 10000 rows are shown. For all rows, add --format csv -o FILE.\n"} {
		t.Run(rows, func(t *testing.T) {
			t.Parallel()
			out, notes, err := run(t, console.Config{}, "SELECT number FROM numbers("+rows+")")
			if err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Count(out, "\n"), 10_000+4; got != want {
				t.Errorf("got %d lines, want %d", got, want)
			}
			if notes != note {
				t.Errorf("got the note %q, want %q", notes, note)
			}
		})
	}
}

func TestArrowKeepsTypes(t *testing.T) {
	t.Parallel()
	r, err := ipc.NewReader(strings.NewReader(must(t, console.Config{Format: "arrow"}, every)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	types := make(map[string]string)
	for _, f := range r.Schema().Fields() {
		types[f.Name] = f.Type.String()
	}
	want := map[string]string{
		"city": "utf8", "day": "date32", "at": "timestamp[us, tz=UTC]", "pm25": "float64", "aqi": "uint16", "dominant": "utf8",
		"source": "utf8", "big": "int64", "flag": "bool", "odd": "float64",
	}
	delete(types, "list")
	delete(types, "pair")
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	tsv := console.Config{Format: "TSV", Params: map[string]string{"city": "Pu\tne\\", "n": "3"}}
	for script, want := range map[string]string{
		"SELECT ';'; -- ;\nSELECT 2;":          ";\n2\n",
		"SELECT {city:String}, {n:UInt8} + 1":  "Pu\\tne\\\\\t4\n",
		"USE system; SELECT currentDatabase()": "system\n",
		"SET max_threads = 1, format_csv_null_representation='it''s'; SELECT getSetting('max_threads'), getSetting('format_csv_null_representation')": "1\tit\\'s\n",
		"SELECT 1 AS a FORMAT JSONEachRow; SELECT 2": "{\"a\":1}\n2\n",
		"SELECT 1 AS a FORMAT Vertical":              "Row 1:\n──────\na: 1\n",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, must(t, tsv, script)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// An error after the first rows of a stream. A table ends before it.
func TestErrorAfterRows(t *testing.T) {
	t.Parallel()
	want := "ClickHouse: Value passed to 'throwIf' function is non-zero"
	if _, _, err := run(t, console.Config{Format: "TSV"}, "SELECT number, throwIf(number = 900000) FROM numbers(1e6)"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"SELECT * FROM system.colums":                     "ClickHouse: unknown table 'system.colums'; did you mean system.columns?",
		"SELECT nme FROM system.tables":                   "ClickHouse: unknown column `nme`; did you mean name?",
		"SELECT 1 WHERE 'Pune' = Pune":                    "ClickHouse: unknown column or function `Pune`; a text needs single quotes: 'Pune'",
		"SELECT roundd(1)":                                "ClickHouse: Function with name `roundd` does not exist; did you mean round?",
		"SELEC 1":                                         "ClickHouse: Syntax error: failed at position 1 (SELEC): SELEC 1",
		"SELECT 1; SELECT 1 +":                            "statement 2: ClickHouse: Syntax error: failed at position 11 (the end of the query)",
		"SELECT {city:String}":                            "ClickHouse: parameter `city` is not set; set it with --param name=value",
		"SELECT 1 FORMAT Jsn":                             "ClickHouse: Unknown format Jsn; did you mean JSON?",
		"SELECT 1 SETTINGS max_threds = 1":                "ClickHouse: Unknown setting 'max_threds'; did you mean max_threads?",
		"SELECT 1; SET max_threds = 1":                    "statement 2: ClickHouse: Unknown setting 'max_threds'; did you mean max_threads?",
		"CREATE TABLE t (a UInt8) ENGINE = Memory":        "ClickHouse: CREATE is not allowed for analysts; --write runs it as the administrator",
		"SELECT 1 FROM system.processes, url('http://x')": "ClickHouse: the function url is not allowed for analysts; --write runs it as the administrator",
		"SELECT 1 SETTINGS max_execution_time = 7200":     "ClickHouse: Setting max_execution_time shouldn't be \"7200\": it is limited for this user; --write has no limits",
		"SELECT max(number) FROM numbers(1e12)": "ClickHouse: Limit for rows (controlled by 'max_rows_to_read' setting) exceeded, max rows: 5.00 billion, " +
			"current rows: 1.00 trillion; select fewer rows, such as a shorter time, or add --write, which has no limits of analysts",
		"INSERT INTO FUNCTION null('a UInt8') VALUES (1)": "INSERT is not allowed; statements that change something need --write",
		"SET readonly = 0": "readonly cannot be set; statements that change something need --write",
		"SET max_threads":  `SET needs name = value, not "max_threads"`,
		"SELECT throwIf(number = 5000) FROM numbers(1e6)": "ClickHouse: Value passed to 'throwIf' function is non-zero",
		"SET param_a = 'x'; SELECT {a:Int32}": "statement 2: ClickHouse: Value x cannot be parsed as Int32 for query parameter 'a' because it isn't parsed completely: " +
			"only 0 of 1 bytes was parsed",
		" -- nothing": "there is no statement to run",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			for _, format := range []string{"TSV", "table"} {
				if _, _, err := run(t, console.Config{Format: format}, script); err == nil || err.Error() != want {
					t.Errorf("%s: got %v, want %s", format, err, want)
				}
			}
		})
	}
}

// An error after the first rows is an error of the command. The rows before it are written, and nothing of the error.
func TestLateErrorIsNoResult(t *testing.T) {
	t.Parallel()
	out, _, err := run(t, console.Config{Format: "TSV"}, "SELECT number, throwIf(number = 900000) FROM numbers(1000000)")
	if err == nil {
		t.Error("the error is missing")
	}
	if out == "" {
		t.Error("the rows before the error are missing")
	}
	if strings.Contains(out, "xception") {
		t.Errorf("the result has the error: %q", out[max(0, len(out)-300):])
	}
}

func TestWrongFormat(t *testing.T) {
	t.Parallel()
	_, _, err := run(t, console.Config{Format: "parqet"}, "SELECT 1")
	if want := `there is no format "parqet"; did you mean Parquet`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	_, _, err = run(t, console.Config{Format: "parquet"}, "SELECT 1; SELECT 2")
	if want := "the format Parquet takes the result of one statement: these are 2"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if got := must(t, console.Config{Format: "parquet"}, "SET max_threads = 1; SELECT 1"); !strings.HasPrefix(got, "PAR1") || !strings.HasSuffix(got, "PAR1") {
		t.Errorf("got %d bytes that are no Parquet", len(got))
	}
}

func TestInsertReadsItsRows(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	c := config(t, console.Config{Format: "TSV", Write: true, Database: columnstoretest.Database(t, db)})
	var out bytes.Buffer
	c.Out, c.Err = &out, &out
	rows := strings.NewReader("1,Pune\n2,\"Agra; UP\"\n")
	if err := c.Script(t.Context(), console.Input{Args: []string{"CREATE TABLE t (a UInt8, s String) ENGINE = Memory; INSERT INTO t FORMAT CSV"}, Stdin: rows}, ""); err != nil {
		t.Fatal(err)
	}
	script := "INSERT INTO t VALUES (3, ';'); SELECT * FROM t ORDER BY a"
	if err := c.Script(t.Context(), console.Input{File: "-", Stdin: strings.NewReader(script)}, ""); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "1\tPune\n2\tAgra; UP\n3\t;\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCancelledStatement(t *testing.T) {
	t.Parallel()
	c := config(t, console.Config{Format: "TSV"})
	ctx, cancel := context.WithCancel(t.Context())
	c.Out = cancelling{cancel}
	err := c.Script(ctx, console.Input{Args: []string{"SELECT number FROM system.numbers"}}, "")
	if !errors.Is(err, console.ErrCancelled) {
		t.Errorf("got %v, want %v", err, console.ErrCancelled)
	}
}

// cancelling cancels the statement at its first rows.
type cancelling struct{ cancel func() }

func (w cancelling) Write(p []byte) (int, error) {
	w.cancel()
	return len(p), nil
}
