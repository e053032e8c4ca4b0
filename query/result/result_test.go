package result_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnstore/columnstoretest"
	"vayu/query/result"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

// every has a column of each type that tables and users' queries have.
const every = `SELECT * FROM (
	SELECT 'Delhi, "the city"' AS city, toDate('2026-11-20') AS day, toDateTime('2026-11-20 06:30:00', 'UTC') AS at,
		toNullable(toFloat64(45.5)) AS pm25, toUInt16(76) AS aqi, CAST('pm25', 'Enum8(\'none\' = 0, \'pm25\' = 1)') AS dominant,
		toLowCardinality('x') AS source, toInt64(-9007199254740993) AS big, true AS flag, ['a', 'b'] AS list, (1, 'b') AS pair, [1, 255]::Array(UInt8) AS small, nan AS odd
	UNION ALL
	SELECT '', toDate('1970-01-02'), toDateTime(0, 'UTC'), NULL, 0, 'none', '', 0, false, [], (0, ''), [], inf)
	ORDER BY aqi DESC`

func write(t *testing.T, format, query string) string {
	t.Helper()
	rows, err := columnstoretest.New(t).Conn().Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var out bytes.Buffer
	if _, err := result.Formats[format](&out, rows); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return out.String()
}

func TestCSV(t *testing.T) {
	t.Parallel()
	want := `city,day,at,pm25,aqi,dominant,source,big,flag,list,pair,small,odd
"Delhi, ""the city""",2026-11-20,2026-11-20T06:30:00Z,45.5,76,pm25,x,-9007199254740993,true,"[""a"",""b""]","[1,""b""]","[1,255]",NaN
,1970-01-02,1970-01-01T00:00:00Z,,0,none,,0,false,[],"[0,""""]",[],+Inf
`
	if diff := cmp.Diff(want, write(t, "csv", every)); diff != "" {
		t.Errorf("CSV (-want +got):\n%s", diff)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	want := `{"city":"Delhi, \"the city\"","day":"2026-11-20","at":"2026-11-20T06:30:00Z","pm25":45.5,"aqi":76,"dominant":"pm25","source":"x","big":-9007199254740993,"flag":true,"list":["a","b"],"pair":[1,"b"],"small":[1,255],"odd":null}
{"city":"","day":"1970-01-02","at":"1970-01-01T00:00:00Z","pm25":null,"aqi":0,"dominant":"none","source":"","big":0,"flag":false,"list":[],"pair":[0,""],"small":[],"odd":null}
`
	if diff := cmp.Diff(want, write(t, "json", every)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

func TestJSONOfSmallFloats(t *testing.T) {
	t.Parallel()
	want := `{"a":null,"b":null,"c":1.5}` + "\n"
	if diff := cmp.Diff(want, write(t, "json", "SELECT toFloat32(nan) AS a, toNullable(toFloat32(-inf)) AS b, toFloat32(1.5) AS c")); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

func TestTableShowsNULL(t *testing.T) {
	t.Parallel()
	got := write(t, "table", "SELECT arrayJoin([('Pune', 50), ('Agra', NULL)]) AS t, t.1 AS city, t.2 AS aqi")
	if !strings.Contains(got, "NULL") || !strings.Contains(got, "Pune") {
		t.Errorf("a table with Pune and NULL was expected, have\n%s", got)
	}
}

func TestArrowKeepsTypes(t *testing.T) {
	t.Parallel()
	r, err := ipc.NewReader(bytes.NewReader([]byte(write(t, "arrow", every))))
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
		"source": "utf8", "big": "int64", "flag": "bool", "list": "utf8", "pair": "utf8", "small": "utf8", "odd": "float64",
	}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	rows, nulls := 0, 0
	for r.Next() {
		rows += int(r.Record().NumRows())
		nulls += r.Record().Column(3).NullN()
	}
	if rows != 2 || nulls != 1 {
		t.Errorf("%d rows with %d NULL in pm25, want 2 and 1", rows, nulls)
	}
}

func TestAnswerWithoutRows(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"csv", "json"} {
		if got := write(t, format, "SELECT 1 AS a, 'x' AS b WHERE 0"); got != "" && got != "a,b\n" {
			t.Errorf("an empty answer as %s is %q", format, got)
		}
	}
	if _, err := ipc.NewReader(bytes.NewReader([]byte(write(t, "arrow", "SELECT 1 AS a WHERE 0")))); err != nil {
		t.Errorf("an empty answer as Arrow: %v", err)
	}
}

func TestManyRows(t *testing.T) {
	t.Parallel()
	r, err := ipc.NewReader(bytes.NewReader([]byte(write(t, "arrow", "SELECT number FROM numbers(100000)"))))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	var sum uint64
	for r.Next() {
		for _, v := range r.Record().Columns() {
			for i := range v.Len() {
				sum += uint64(len(v.ValueStr(i)))
			}
		}
	}
	if sum != 488890 { // digits of 0 to 99,999
		t.Errorf("%d digits came back, want 488890", sum)
	}
}
