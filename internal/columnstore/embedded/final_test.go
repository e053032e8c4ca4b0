package embedded_test

import (
	"net/http"
	"strings"
	"testing"

	"vayu/internal/columnstore/columnstoretest"
)

// twice fills the table t of a new database with two unmerged versions of each of 1,000 rows. The table city
// has 10 rows once. It returns the database's name.
func twice(t *testing.T) string {
	t.Helper()
	db := columnstoretest.New(t)
	database := columnstoretest.Database(t, db)
	for _, statement := range []string{
		"CREATE TABLE " + database + ".t (id UInt32, value UInt32, version UInt32) ENGINE = ReplacingMergeTree(version) ORDER BY id",
		"SYSTEM STOP MERGES " + database + ".t",
		"INSERT INTO " + database + ".t SELECT number, 1, 1 FROM numbers(1000)",
		"INSERT INTO " + database + ".t SELECT number, 2, 2 FROM numbers(1000)",
		"CREATE TABLE " + database + ".city (id UInt32, name String) ENGINE = MergeTree ORDER BY id",
		"INSERT INTO " + database + ".city SELECT number, toString(number) FROM numbers(10)",
		"CREATE TABLE " + database + ".copy (id UInt32, value UInt32) ENGINE = MergeTree ORDER BY id",
		"CREATE VIEW " + database + ".v AS SELECT * FROM " + database + ".t",
	} {
		if err := db.Conn().Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return database
}

func TestReadsReplacedRowsOnce(t *testing.T) {
	t.Parallel()
	database := twice(t)
	for name, c := range map[string]struct {
		query      string
		parameters []string
		want       string
	}{
		"table":               {"SELECT count(), sum(value) FROM t", nil, "1000\t2000\n"},
		"subquery":            {"SELECT count() FROM (SELECT id FROM t WHERE value > 0)", nil, "1000\n"},
		"common expression":   {"WITH x AS (SELECT * FROM t) SELECT count() FROM x", nil, "1000\n"},
		"scalar":              {"SELECT (SELECT count() FROM t)", nil, "1000\n"},
		"view":                {"SELECT count() FROM v", nil, "1000\n"},
		"join, left side":     {"SELECT count() FROM t JOIN city ON city.id = t.id", nil, "10\n"},
		"join, right side":    {"SELECT count() FROM city JOIN t ON city.id = t.id", nil, "10\n"},
		"IN":                  {"SELECT count() FROM city WHERE id IN (SELECT id FROM t WHERE value = 1)", nil, "0\n"},
		"UNION ALL":           {"SELECT sum(n) FROM (SELECT count() AS n FROM t UNION ALL SELECT count() FROM t)", nil, "2000\n"},
		"document format":     {"SELECT count() AS n FROM t FORMAT JSONCompactColumns", nil, "[\n\t[1000]\n]\n"},
		"FINAL as well":       {"SELECT count() FROM t FINAL", nil, "1000\n"},
		"other settings":      {"SELECT count() FROM t", []string{"max_threads", "1"}, "1000\n"},
		"setting of a query":  {"SELECT count(), sum(value) FROM t SETTINGS final = 0", nil, "2000\t3000\n"},
		"HTTP parameter":      {"SELECT count(), sum(value) FROM t", []string{"final", "0"}, "2000\t3000\n"},
		"query over HTTP":     {"SELECT count() FROM t SETTINGS final = 1", []string{"final", "0"}, "1000\n"},
		"table without FINAL": {"SELECT count() FROM city", nil, "10\n"},
		"system table":        {"SELECT count() FROM system.one", nil, "1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				values := query(append(c.parameters, "database", database, "query", c.query)...)
				if reply, got := ask(t, method, values, nil); reply.StatusCode != http.StatusOK || got != c.want {
					t.Errorf("%s: got %d %q, want %q", method, reply.StatusCode, got, c.want)
				}
			}
		})
	}
}

func TestInsertSelectReadsReplacedRowsOnce(t *testing.T) {
	t.Parallel()
	values := query("database", twice(t))
	if reply, got := ask(t, "POST", values, strings.NewReader("INSERT INTO copy SELECT id, value FROM t")); reply.StatusCode != http.StatusOK {
		t.Fatalf("got %d %q", reply.StatusCode, got)
	}
	if _, got := ask(t, "POST", values, strings.NewReader("SELECT count(), sum(value) FROM copy")); got != "1000\t2000\n" {
		t.Errorf("got %q, want 1000 rows with the later value", got)
	}
}
