package migration

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"strings"
	"text/template"

	"vayu/schema/statement"
)

// Params are the input of a migration's template. One template defines the tables of a single node and of a cluster.
//
// Fields of a template (dot is a map; inside range and with, write $.Database):
//
//	{{.Database}}    the database's name, such as vayu
//	{{.OnCluster}}   "ON CLUSTER `name`", or nothing on a single node
//	{{.NAME}}        the entry NAME of Values
//
// Functions:
//
//	{{engine "ReplacingMergeTree" "ingested_at"}}
//	    the engine with its arguments: ReplacingMergeTree(ingested_at). On a cluster
//	    ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', ingested_at); the server sets
//	    the macros. Engines outside the MergeTree family stay as they are.
//	{{everywhere "ReplacingMergeTree" "applied_at"}}
//	    the same, for a small table of which every node of every shard has all rows.
//	{{local "reading"}}
//	    the name of the table that holds the rows on each node: reading, or reading_local on a cluster.
//	{{distributed "reading" "cityHash64(station)"}}
//	    a statement that creates reading as the distributed table over all nodes' reading_local, sharded by the
//	    expression. It has the columns and the comment of the table before it. On a single node it is empty. Example:
//	    CREATE TABLE {{.Database}}.{{local "reading"}} {{.OnCluster}} (…) ENGINE = …; and on a line of its own
//	    {{distributed "reading" "cityHash64(station)"}}
//
// An unknown field is an error, not an empty string.
type Params struct {
	Database string         // a name, see [IsName]
	Cluster  string         // "" for a single node
	Files    fs.FS          // the migrations of the database: NNNN_name.sql
	Values   map[string]any // further fields of the template
	// TTL maps a table to its fixed TTL clause, in the form in which ClickHouse lists it. If TTL is nil, the storage
	// settings determine the TTL clauses of a world's tables.
	TTL map[string]string
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// IsName reports whether text can be the name of a database, table or column: a letter or underscore, then letters,
// digits and underscores.
func IsName(text string) bool { return plainName.MatchString(text) }

func (p Params) validate() error {
	if !IsName(p.Database) {
		return fmt.Errorf("%q is not a database name", p.Database)
	}
	if strings.ContainsAny(p.Cluster, "`\\") {
		return fmt.Errorf("%q is not a cluster name", p.Cluster)
	}
	if p.Files == nil {
		return fmt.Errorf("the database %q has no migrations", p.Database)
	}
	for _, own := range []string{"Database", "OnCluster"} {
		if _, ok := p.Values[own]; ok {
			return fmt.Errorf("the value %s would hide the template's own field", own)
		}
	}
	return nil
}

// render executes the template text with the values of p. It copies the comments of local tables to their distributed
// tables.
func (p Params) render(name, text string) (string, error) {
	t, err := template.New(name).Option("missingkey=error").Funcs(template.FuncMap{
		"engine": p.engine, "everywhere": p.everywhere, "local": p.Local, "distributed": p.distributed,
	}).Parse(text)
	if err != nil {
		return "", err
	}
	data := maps.Clone(p.Values)
	if data == nil {
		data = map[string]any{}
	}
	data["Database"], data["OnCluster"] = p.Database, p.onCluster()
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "", err
	}
	return distributedTable.ReplaceAllString(b.String(), "\n$1;\n$2\n$1;"), nil
}

// distributedTable matches the COMMENT of a local table, and the following statement for the distributed table.
var distributedTable = regexp.MustCompile(`(?s)\n(COMMENT '(?:[^'\\]|\\.|'')*');\n(CREATE TABLE IF NOT EXISTS [^;]* ENGINE = Distributed\([^;]*\));`)

func (p Params) onCluster() string {
	if p.Cluster == "" {
		return ""
	}
	return "ON CLUSTER " + statement.QuoteName(p.Cluster)
}

// Arguments of a replicated engine: the path in ClickHouse Keeper where replicas find each other, and the replica's
// name.
const (
	sharded   = `'/clickhouse/tables/{uuid}/{shard}', '{replica}'`
	unsharded = `'/clickhouse/tables/{uuid}/all', '{shard}-{replica}'`
)

func (p Params) engine(name string, args ...string) (string, error) {
	if name == "" {
		return "", errors.New("engine needs a name")
	}
	if p.Cluster != "" && strings.HasSuffix(name, "MergeTree") {
		args = append([]string{sharded}, args...)
		name = "Replicated" + name
	}
	if len(args) == 0 && strings.HasSuffix(name, "MergeTree") {
		return name, nil
	}
	return name + "(" + strings.Join(args, ", ") + ")", nil
}

// everywhere returns the SQL of an engine for a table of which every node has all rows. The path in Keeper lacks the
// shard, so that the nodes of all shards replicate one table. The shard is in the replica's name, which must be unique.
func (p Params) everywhere(name string, args ...string) (string, error) {
	text, err := p.engine(name, args...)
	return strings.Replace(text, sharded, unsharded, 1), err
}

// LocalTable returns the name of the table that contains the rows on each node, with its ON CLUSTER clause. ALTER
// TABLE and DELETE FROM need this form. It is "vayu.reading", or "vayu.reading_local ON CLUSTER `air`".
func (p Params) LocalTable(table string) string {
	return strings.TrimRight(p.Database+"."+p.Local(table)+" "+p.onCluster(), " ")
}

// Local returns the name of the table that contains the rows on each node: reading, or reading_local on a cluster.
func (p Params) Local(table string) string {
	if p.Cluster == "" {
		return table
	}
	return table + "_local"
}

func (p Params) distributed(table, shard string) string {
	if p.Cluster == "" {
		return ""
	}
	local := p.Local(table)
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s.%s %s AS %s.%s ENGINE = Distributed(%s, '%s', '%s', %s);",
		p.Database, table, p.onCluster(), p.Database, local, statement.QuoteName(p.Cluster), p.Database, local, shard)
}

// everyNode returns the SQL for reading a table on all nodes of the cluster at once.
func (p Params) everyNode(table string) string {
	if p.Cluster == "" {
		return statement.QuoteName(p.Database, table)
	}
	return fmt.Sprintf("clusterAllReplicas(%s, %s, %s)", statement.QuoteName(p.Cluster), statement.QuoteName(p.Database), statement.QuoteName(table))
}
