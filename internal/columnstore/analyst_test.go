package columnstore_test

import (
	"slices"
	"strings"
	"testing"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
)

func analyst() columnstore.Analyst {
	a := columnstore.DefaultAnalyst()
	a.Name, a.Hash, a.Databases = "reports", strings.Repeat("0f", 32), []string{"vayu", "vayu_sandbox"}
	a.Private = []string{"attempt"}
	return a
}

// These are the statements shown to an administrator. The embedded engine creates no users, so only its
// parser checks them.
func TestAnalystStatements(t *testing.T) {
	t.Parallel()
	a := analyst()
	got, err := a.Statements()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"CREATE SETTINGS PROFILE OR REPLACE `vayu_analyst_reports` SETTINGS\n    readonly = 2 READONLY,\n" +
			"    max_memory_usage = 4294967296 MIN 1 MAX 4294967296,\n    max_execution_time = 60 MIN 1 MAX 60,\n    timeout_overflow_mode = 'throw' READONLY,\n" +
			"    max_result_rows = 10000000 MIN 1 MAX 10000000,\n    result_overflow_mode = 'throw' READONLY,\n    max_threads = 4 MIN 1 MAX 4,\n" +
			"    max_concurrent_queries_for_user = 4 MIN 1 MAX 4,\n    allow_ddl = 0 READONLY,\n    allow_introspection_functions = 0 READONLY,\n" +
			"    final = 1,\n    do_not_merge_across_partitions_select_final = 1,\n    distributed_product_mode = 'global'",
		"CREATE USER OR REPLACE `reports` IDENTIFIED WITH sha256_hash BY '" + a.Hash + "' DEFAULT DATABASE `vayu` SETTINGS PROFILE 'vayu_analyst_reports'",
		"GRANT SELECT, dictGet ON `vayu`.* TO `reports`",
		"REVOKE SELECT ON `vayu`.`attempt` FROM `reports`",
		"GRANT SELECT, dictGet ON `vayu_sandbox`.* TO `reports`",
		"REVOKE SELECT ON `vayu_sandbox`.`attempt` FROM `reports`",
		"GRANT CREATE TEMPORARY TABLE ON *.* TO `reports`",
		"CREATE QUOTA OR REPLACE `vayu_analyst_reports` KEYED BY user_name FOR INTERVAL 1 hour MAX queries = 1000, execution_time = 1200 TO `reports`",
	}
	policy := func(s string) bool { return strings.HasPrefix(s, "CREATE ROW POLICY") }
	if diff := cmp.Diff(want, slices.DeleteFunc(slices.Clone(got), policy)); diff != "" {
		t.Error(diff)
	}
	for table, begin := range map[string]string{
		"query_log":   "`system`.`query_log`, `system`.`query_log_0`, `system`.`query_log_1`, ", // an upgrade renames logs
		"query_cache": "`system`.`query_cache` USING 0 TO `reports`",
	} {
		if !slices.ContainsFunc(got, func(s string) bool {
			return strings.HasPrefix(s, "CREATE ROW POLICY OR REPLACE `vayu_analyst_reports` ON "+begin) && strings.HasSuffix(s, " USING 0 TO `reports`")
		}) {
			t.Errorf("got %q, want a policy for %s among them", got, table)
		}
	}
	canBeRead(t, got)
}

// Each statement runs on all nodes, and ClickHouse can parse it.
func TestAnalystStatementsOnCluster(t *testing.T) {
	t.Parallel()
	a := analyst()
	a.Cluster = "air"
	statements, err := a.Statements()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if !strings.Contains(s, " ON CLUSTER `air` ") {
			t.Errorf("%s is for one node", s)
		}
	}
	canBeRead(t, statements)
}

// canBeRead checks statements with ClickHouse's parser.
func canBeRead(t *testing.T, statements []string) {
	t.Helper()
	db := columnstoretest.New(t)
	for _, s := range statements {
		var text string
		if err := db.Conn().QueryRow(t.Context(), "SELECT formatQuery({text:String})", clickhouse.Named("text", s)).Scan(&text); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestInvalidAnalystIsRejected(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*columnstore.Analyst){
		"not a name":              func(a *columnstore.Analyst) { a.Name = "default" },
		"the user of the service": func(a *columnstore.Analyst) { a.Service = "reports" },
		"SHA-256":                 func(a *columnstore.Analyst) { a.Hash = "secret" },
		"limit":                   func(a *columnstore.Analyst) { a.Rows = 0 },
		"cluster":                 func(a *columnstore.Analyst) { a.Cluster = "a`b" },
	} {
		a := analyst()
		change(&a)
		if _, err := a.Statements(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v, want an error about %s", err, want)
		}
	}
}
