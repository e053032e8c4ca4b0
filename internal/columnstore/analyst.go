package columnstore

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"vayu/internal/config"
	"vayu/schema/statement"
)

// Analyst is a read-only user of a server or cluster, with limits. [Analysts] configures the embedded engine's analyst.
type Analyst struct {
	Name      string   // letters, digits, underscore
	Hash      string   // SHA-256 of the password, 64 hexadecimal digits
	Cluster   string   // "" for a single server
	Databases []string // readable databases
	Private   []string // unreadable tables of these databases
	Service   string   // the service's own user, from which Name must differ; see [Config.User]

	Memory  config.Size   // of one query
	Time    time.Duration // of one query
	Rows    uint64        // of one result
	Queries uint64        // per hour
	Total   time.Duration // execution time of all queries per hour
}

// DefaultAnalyst returns limits that suit two analysts on a server with 16 GiB that also serves Vayu. A query reads a
// year of hourly data of India in seconds within 1 GiB. A notebook can handle 10 million rows.
func DefaultAnalyst() Analyst {
	return Analyst{Memory: 4 * config.GiB, Time: time.Minute, Rows: 10_000_000, Queries: 1000, Total: 20 * time.Minute}
}

var (
	userName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)
	sha256Text = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// serverLogs are system tables with the queries of all users, or with values from queries. Row policies hide them from
// analysts, because a server can let every user read all system tables (select_from_system_db_requires_grant). If an
// upgrade changes the columns of a log, the server renames the old log with the first free suffix: _0, _1 and so on. A
// row policy can exist before its table, so renamed logs are hidden at once.
var serverLogs = []string{
	"asynchronous_insert_log", "asynchronous_inserts", "crash_log", "mutations", "opentelemetry_span_log", "part_log",
	"processes", "processors_profile_log", "query_cache", "query_log", "query_metric_log", "query_thread_log", "query_views_log",
	"session_log", "text_log", "trace_log",
}

// renamedLogs is how many renamed tables of each log are hidden, such as query_log_0 to query_log_9. A server has
// fewer, even after years of upgrades.
const renamedLogs = 10

// Statements returns the SQL that creates the user, or updates the limits and password of an existing user. Each user
// has a settings profile of its own, so that limits can differ between users.
//
// The setting readonly is 2, because with 1 most clients cannot set the format of their results. A user cannot raise a
// limit, or set it to 0 (no limit). A user has no rights for DDL, except for temporary tables. By default the user's
// queries read tables as with FINAL, and a subquery sees the rows of all shards.
func (a Analyst) Statements() ([]string, error) {
	switch {
	case !userName.MatchString(a.Name) || a.Name == "default":
		return nil, fmt.Errorf("%q is not a name for an analyst: letters, digits and underscores", a.Name)
	case a.Name == a.Service:
		return nil, fmt.Errorf("%q is the user of the service, which could then write no more: choose another name", a.Name)
	case !sha256Text.MatchString(a.Hash):
		return nil, errors.New("the hash of the password is not a SHA-256 in hexadecimal")
	case strings.ContainsAny(a.Cluster, "`\\"):
		return nil, fmt.Errorf("%q is not a cluster name", a.Cluster)
	case a.Memory <= 0 || a.Time < time.Second || a.Rows == 0 || a.Queries == 0 || a.Total < time.Second:
		return nil, errors.New("a limit is missing: none may be 0, and no time shorter than a second")
	}
	var on string
	if a.Cluster != "" {
		on = " ON CLUSTER " + statement.QuoteName(a.Cluster)
	}
	name, own := statement.QuoteName(a.Name), statement.QuoteName("vayu_analyst_"+a.Name)
	seconds := func(d time.Duration) string { return fmt.Sprintf("%d", int64(d/time.Second)) }
	limit := func(setting, value string) string { return setting + " = " + value + " MIN 1 MAX " + value }
	all := []string{
		"CREATE SETTINGS PROFILE OR REPLACE " + own + on + " SETTINGS\n    " + strings.Join([]string{
			"readonly = 2 READONLY",
			limit("max_memory_usage", fmt.Sprintf("%d", int64(a.Memory))),
			limit("max_execution_time", seconds(a.Time)),
			"timeout_overflow_mode = 'throw' READONLY",
			limit("max_result_rows", fmt.Sprintf("%d", a.Rows)),
			"result_overflow_mode = 'throw' READONLY",
			limit("max_threads", "4"),
			limit("max_concurrent_queries_for_user", "4"),
			"allow_ddl = 0 READONLY",
			"allow_introspection_functions = 0 READONLY",
			"final = 1",
			"do_not_merge_across_partitions_select_final = 1",
			"distributed_product_mode = 'global'",
		}, ",\n    "),
		"CREATE USER OR REPLACE " + name + on + " IDENTIFIED WITH sha256_hash BY '" + a.Hash + "' DEFAULT DATABASE " + statement.QuoteName(a.Databases[0]) +
			" SETTINGS PROFILE '" + "vayu_analyst_" + a.Name + "'",
	}
	for _, database := range a.Databases {
		all = append(all, "GRANT"+on+" SELECT, dictGet ON "+statement.QuoteName(database)+".* TO "+name)
		for _, table := range a.tables() {
			all = append(all, "REVOKE"+on+" SELECT ON "+statement.QuoteName(database, table)+" FROM "+name)
		}
	}
	all = append(all, "GRANT"+on+" CREATE TEMPORARY TABLE ON *.* TO "+name)
	for _, log := range serverLogs {
		tables := []string{statement.QuoteName("system", log)}
		for n := 0; n < renamedLogs && strings.HasSuffix(log, "_log"); n++ {
			tables = append(tables, statement.QuoteName("system", fmt.Sprintf("%s_%d", log, n)))
		}
		all = append(all, "CREATE ROW POLICY OR REPLACE "+own+on+" ON "+strings.Join(tables, ", ")+" USING 0 TO "+name)
	}
	return append(all, "CREATE QUOTA OR REPLACE "+own+on+" KEYED BY user_name FOR INTERVAL 1 hour MAX queries = "+fmt.Sprint(a.Queries)+
		", execution_time = "+seconds(a.Total)+" TO "+name), nil
}

// tables returns the names of the private tables. On a cluster, they include the local tables, which contain the rows.
func (a Analyst) tables() []string {
	all := slices.Clone(a.Private)
	if a.Cluster != "" {
		for _, table := range a.Private {
			all = append(all, table+"_local")
		}
	}
	return all
}
