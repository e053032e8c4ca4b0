package clickhouse_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"vayu/schema/migrations/clickhouse"
)

var (
	createTable   = regexp.MustCompile(`(?s)CREATE TABLE IF NOT EXISTS vayu\.(\w+)[^(]*\((.*?)\n\)`)
	accountColumn = regexp.MustCompile(`(?m)^\s+(?:account|user|owner|key|mobile|phone|msisdn|email|customer)(?:_\w+)? `)
)

// Analysts read every table that is not in Private. So a new table whose rows name accounts must be there.
func TestTablesOfAccountsArePrivate(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "single.golden.sql"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range createTable.FindAllStringSubmatch(string(text), -1) {
		if accountColumn.MatchString(m[2]) {
			found = append(found, m[1])
		}
	}
	for _, table := range found {
		if !slices.Contains(clickhouse.Private, table) {
			t.Errorf("the table %s names accounts: list it in Private", table)
		}
	}
	if got, want := len(found), len(clickhouse.Private); got < want {
		t.Errorf("found %d tables of accounts %q, want at least %d", got, found, want)
	}
}
