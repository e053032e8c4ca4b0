// Package access defines the two users of the embedded engine, and what the user for analysts may do.
//
// libchdb runs every statement as one user of the engine, "default". That user has the rights of analysts. All other
// rights are in a role. Connections of administrators have the role, and connections of analysts drop it. So the engine
// itself refuses to write, to read other databases, and to use files and the network. [Guard] refuses what rights do
// not cover: setting the role again, cancelling queries of other users, and functions and clauses that need no right.
package access

import (
	"encoding/xml"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"vayu/schema/statement"
)

// User is a user of the engine's HTTP interface.
type User string

// The users of the engine.
const (
	Admin   User = "default" // may do everything
	Analyst User = "analyst" // reads the databases of Limits
)

// Limits are the rights and limits of the user Analyst.
type Limits struct {
	Databases []string      `json:"databases"` // readable databases
	Private   []string      `json:"private"`   // unreadable tables of these databases
	Memory    int64         `json:"memory"`    // of one query, in bytes
	Time      time.Duration `json:"time"`      // of one query
	Rows      uint64        `json:"rows"`      // of one result
	Queries   int           `json:"queries"`   // concurrent queries of all analysts
	Temporary int64         `json:"temporary"` // memory of all temporary tables, in bytes; half of it for one session
}

// readRows limits the rows that one query reads. Half of it is enough for ten years of 15-minute readings of
// 600 stations and 12 parameters: 2.5 billion rows.
const readRows = 5_000_000_000

// spillBytes limits the temporary files of one query on disk.
const spillBytes = 10 << 30

// blockRows is the engine's default size of a block. Analysts cannot raise it, because the engine ends a query only
// between two blocks. With this size, a query with editDistance over texts of 2,000 letters ran for 66 s after KILL
// QUERY.
const blockRows = 65_409

// Slots returns how many queries of analysts may run at once on a machine with the given number of processors. They use
// half of the processors, at least one each, and leave the rest to the service.
func (l Limits) Slots(processors int) int { return max(1, min(l.Queries, processors/2)) }

// threads returns how many threads a query may have, so that all slots together have half of the processors.
func (l Limits) threads(processors int) int { return max(1, processors/2/l.Slots(processors)) }

// bound is a setting of analysts with a value that they can lower, but not raise or switch off.
type bound struct {
	name  string
	value string
}

// bounds returns the settings that enforce l. A limit of 0 means no limit, so its setting is left out.
func (l Limits) bounds() []bound {
	threads := strconv.Itoa(l.threads(runtime.GOMAXPROCS(0)))
	all := []bound{
		{"max_memory_usage", strconv.FormatInt(l.Memory, 10)},
		{"max_execution_time", strconv.FormatInt(int64((l.Time+time.Second-1)/time.Second), 10)},
		{"max_result_rows", strconv.FormatUint(l.Rows, 10)},
		{"max_rows_to_read", strconv.FormatUint(readRows, 10)},
		{"max_temporary_data_on_disk_size_for_query", strconv.FormatInt(spillBytes, 10)},
		{"max_threads", threads},
		{"max_final_threads", threads},
		{"max_block_size", strconv.Itoa(blockRows)},
	}
	return slices.DeleteFunc(all, func(b bound) bool { return b.value == "0" })
}

// locked has settings that analysts cannot change. A setting without a value has the engine's default.
//
// The settings format_…, output_format_schema and dialect name files, or change how a statement is parsed. Data in the
// format Values must not contain expressions: the data can be in a string, which [Guard] does not check. The time limit
// applies to the time since a query's start, not to an estimate of its duration.
var locked = []bound{
	{"readonly", "2"}, {"allow_ddl", "1"}, {"allow_introspection_functions", "0"},
	{"implicit_select", "0"}, {"timeout_before_checking_execution_speed", "0"},
	{"timeout_overflow_mode", "throw"}, {"read_overflow_mode", "throw"},
	{"log_comment", ""}, {"dialect", ""}, {"allow_settings_after_format_in_insert", ""}, {"allow_experimental_eval_table_function", ""},
	{"format_schema", ""}, {"format_schema_source", ""}, {"format_schema_message_name", ""}, {"output_format_schema", ""},
	{"format_avro_schema_registry_url", ""}, {"compatibility", ""},
	{"input_format_values_interpret_expressions", "0"}, {"input_format_values_deduce_templates_of_expressions", "0"},
	{"format_template_row", ""}, {"format_template_resultset", ""},
	{"max_untracked_memory", ""}, {"max_memory_usage_for_user", ""}, {"max_concurrent_queries_for_user", ""},
}

// Arguments returns the engine's arguments for a connection of an analyst: the bounds of l and the locked settings.
func (l Limits) Arguments() []string {
	args := []string{"--do_not_merge_across_partitions_select_final=1"} // all rows of a key are in one partition
	for _, b := range append(l.bounds(), locked...) {
		if b.value != "" {
			args = append(args, "--"+b.name+"="+b.value)
		}
	}
	return args
}

// Settings reduces a request's settings to the limits of l. A value of 0 or above a limit becomes the limit, because
// drivers derive max_execution_time from their own timeouts. The setting `profile` fails. The engine checks the others.
func (l Limits) Settings(settings []statement.Setting) ([]statement.Setting, error) {
	within := make([]statement.Setting, 0, len(settings))
	for _, s := range settings {
		if strings.EqualFold(s.Name, "profile") {
			return nil, errProfile
		}
		for _, b := range l.bounds() {
			limit, _ := strconv.ParseFloat(b.value, 64) // bounds are numbers
			if value, err := strconv.ParseFloat(s.Value, 64); s.Name == b.name && err == nil && (value > limit || value == 0) {
				s.Value = b.value
			}
		}
		within = append(within, s)
	}
	return within, nil
}

// Names of the role and the settings profile in the file of users.
const (
	role    = "vayu_admin"
	profile = "vayu_analyst"
)

// Statements returns the statements that turn a new connection into a connection of an analyst. A new connection has
// the rights of an administrator. The statements drop its role, and set the settings profile of analysts.
func Statements() []string { return []string{"SET ROLE NONE", "SET profile = '" + profile + "'"} }

// Users returns the engine's file of users, in XML.
//
// The engine gives every user all rows of system tables. Row policies hide the tables with queries of other users, and
// the tables about the machine. The remaining system tables show only objects that the user may read.
func Users(l Limits) string {
	var b strings.Builder
	text := func(s string) string {
		var escaped strings.Builder
		_ = xml.EscapeText(&escaped, []byte(s))
		return escaped.String()
	}
	b.WriteString("<clickhouse>\n<profiles><default/><" + profile + "><constraints>\n")
	for _, s := range l.bounds() {
		fmt.Fprintf(&b, "<%[1]s><min>1</min><max>%[2]s</max></%[1]s>\n", s.name, s.value)
	}
	for _, s := range locked {
		fmt.Fprintf(&b, "<%[1]s><readonly/></%[1]s>\n", s.name)
	}
	b.WriteString("</constraints></" + profile + "></profiles>\n<quotas><default/></quotas>\n")
	b.WriteString("<roles><" + role + "><grants><query>GRANT ALL ON *.*</query></grants></" + role + "></roles>\n")
	b.WriteString("<users><default><password/><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>\n<grants>\n")
	for _, grant := range l.grants() {
		b.WriteString("<query>" + text(grant) + "</query>\n")
	}
	b.WriteString("</grants>\n<databases><system>\n")
	for _, table := range hidden {
		fmt.Fprintf(&b, "<%[1]s><filter>has(currentRoles(), '%[2]s')</filter></%[1]s>\n", table, role)
	}
	b.WriteString("</system></databases></default></users>\n</clickhouse>\n")
	return b.String()
}

func (l Limits) grants() []string {
	all := []string{"GRANT " + role, "GRANT CREATE TEMPORARY TABLE ON *.*", "GRANT SHOW DATABASES ON `default`.*"}
	for _, database := range l.Databases {
		all = append(all, "GRANT SELECT, dictGet ON "+statement.QuoteName(database)+".*")
		for _, table := range l.Private {
			all = append(all, "REVOKE SELECT ON "+statement.QuoteName(database, table))
		}
	}
	for _, table := range shown {
		all = append(all, "GRANT SELECT ON system."+table)
	}
	return append(all, "GRANT SELECT ON INFORMATION_SCHEMA.*", "GRANT SELECT ON information_schema.*")
}
