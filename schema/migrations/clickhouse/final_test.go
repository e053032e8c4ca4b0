package clickhouse_test

import (
	"strings"
	"testing"

	"vayu/internal/columnstore/migration"
)

// Only the table comment shows a client of the server that a table may hold
// several versions of a row.
func TestReplacingTableCommentsNameFinal(t *testing.T) {
	t.Parallel()
	for name, p := range forms() {
		statements, err := migration.DDL(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range statements {
			first, _, _ := strings.Cut(s, "\n")
			if strings.Contains(s, "ReplacingMergeTree") && !strings.Contains(first, ".migration") && !strings.Contains(s, "Read with FINAL.'") {
				t.Errorf("%s: the comment of %q does not end with \"Read with FINAL.\"", name, first)
			}
		}
	}
}
