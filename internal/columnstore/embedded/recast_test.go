package embedded_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/ipc"

	"vayu/internal/columnstore/columnstoretest"
)

// An enum is text in Arrow, wherever it occurs in a type, and the order of the rows stays.
func TestEnumsAreTextInArrow(t *testing.T) {
	t.Parallel()
	columnstoretest.New(t)
	const kind = `Enum8('it\'s' = 1, 'b, (2)' = 2)`
	for text, want := range map[string]string{
		"SELECT CAST(1, '" + strings.ReplaceAll(strings.ReplaceAll(kind, `\`, `\\`), "'", `\'`) + "') AS e": `["it's"]`,
		"SELECT [CAST('b' AS Enum16('a' = -1, 'b' = 300))] AS e -- comment":                                 `[["b"]]`,
		"SELECT CAST(NULL AS Nullable(Enum('a' = 1))) AS e FROM numbers(1);":                                `[(null)]`,
		"WITH 'a' AS x SELECT CAST(x AS Enum('a' = 1)) AS `a.b`, 1 AS c":                                    `["a"]`,
		"SELECT CAST({p:String} AS Enum('a' = 1)) AS `q x` SETTINGS max_threads = 1":                        `["a"]`,
		"SELECT CAST(number % 2 + 1 AS Enum('a' = 1, 'b' = 2)) AS e FROM numbers(4) ORDER BY number DESC":   `["b" "a" "b" "a"]`,
		"SELECT number, number FROM numbers(2)":                                                             `[0 1]`,
		"SELECT CAST('a' AS Enum('a' = 1)) AS e UNION ALL SELECT CAST('a' AS Enum('a' = 1))":                `["a"]`,
	} {
		for user, send := range map[string]func(*testing.T, string, []string) string{"admin": asAdmin, "analyst": asAnalyst} {
			t.Run(user+": "+text, func(t *testing.T) {
				t.Parallel()
				got := send(t, text, []string{"param_p", "a", "default_format", "ArrowStream"})
				if column := firstColumn(t, got); column != want {
					t.Errorf("got %s, want %s", column, want)
				}
			})
		}
	}
}

// firstColumn returns the first column of a stream of Arrow.
func firstColumn(t *testing.T, stream string) string {
	t.Helper()
	r, err := ipc.NewReader(strings.NewReader(stream))
	if err != nil {
		t.Fatalf("%v: %.300q", err, stream)
	}
	defer r.Release()
	if !r.Next() {
		t.Fatalf("no rows: %v", r.Err())
	}
	return r.Record().Column(0).String()
}

// Clients that read Native get the time zone of each column. The engine's own format has it in some types only.
func TestNativeHasTimeZones(t *testing.T) {
	t.Parallel()
	columnstoretest.New(t)
	for text, want := range map[string]string{
		"SELECT toDateTime(0, 'Asia/Kolkata') AS t":            "DateTime64(0, 'Asia/Kolkata')",
		"SELECT toDateTime(0, 'Asia/Kolkata') AS t, t AS u":    "DateTime64(0, 'Asia/Kolkata')",
		"SELECT [toDateTime(0, 'Asia/Kolkata')] AS t":          "Array(DateTime('Asia/Kolkata'))",
		"SELECT toDateTime64(0, 3, 'Asia/Kolkata') AS t":       "DateTime64(3, 'Asia/Kolkata')",
		"SELECT toDateTime(0, timezone()) AS t":                "DateTime",
		"SELECT toDate(0) AS t FORMAT Native":                  "Date",
		"SELECT toDateTime(nothing, 'Asia/Kolkata') AS t":      "UNKNOWN_IDENTIFIER",
		"SELECT toDateTime(0, 'Asia/Kolkata') AS t FORMAT CSV": "1970-01-01 05:30:00",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			_, got := askAnalyst(t, http.MethodPost, query("default_format", "Native"), strings.NewReader(text))
			if !strings.Contains(got, want) {
				t.Errorf("got %.200q, want %q in it", got, want)
			}
		})
	}
}
