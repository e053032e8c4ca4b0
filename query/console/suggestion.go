package console

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"vayu/schema/spelling"
)

// unknownName describes one kind of error about a name that does not exist.
type unknownName struct {
	message *regexp.Regexp // its first group is the name
	names   string         // query of the names that exist
	replace string         // clearer message, used if there is a similar name; $1 is the name
}

// These queries select existing names. The query parameter `current` is the console's database. The parameter `words`
// is the list of all words in the rejected statement.
const (
	databaseNames = "SELECT name FROM system.databases"
	tableNames    = `SELECT name FROM system.tables WHERE database = {current:String}
		UNION ALL SELECT concat(database, '.', name) FROM system.tables WHERE NOT startsWith(name, '.')`
	columnNames   = "SELECT DISTINCT name FROM system.columns WHERE has({words:Array(String)}, table)"
	settingNames  = "SELECT name FROM system.settings"
	functionNames = `SELECT name FROM system.functions
		UNION ALL SELECT concat(name, combinator) FROM system.functions
			CROSS JOIN (SELECT name AS combinator FROM system.aggregate_function_combinators) AS c WHERE is_aggregate`
)

// unknownNames are the errors in which ClickHouse itself suggests no names, or only names that are very similar.
//
//nolint:gochecknoglobals // a table
var unknownNames = []unknownName{
	{message: regexp.MustCompile(`^Database (\S+) does not exist$`), names: databaseNames},
	{message: regexp.MustCompile(`^Not enough privileges.* grant SHOW DATABASES ON (\w+)\.\*$`), names: databaseNames, replace: "there is no database $1 for analysts"},
	{message: regexp.MustCompile(`^Not enough privileges.* grant SHOW [A-Z]+ ON ([\w.]+)$`), names: tableNames, replace: "there is no table $1 for analysts"},
	{message: regexp.MustCompile(`^unknown table '([^']+)'$`), names: tableNames},
	{message: regexp.MustCompile(`^Table (\S+) does not exist$`), names: tableNames},
	{message: regexp.MustCompile("^unknown column(?: or function)? `([^`]+)`$"), names: columnNames},
	{message: regexp.MustCompile(`^JOIN .*USING \([\w, ]*\) using identifier '(\w+)' cannot be resolved.*$`), names: columnNames, replace: "unknown column `$1` in USING"},
	{message: regexp.MustCompile(`^JOIN .*USING \((\w+)\) .*$`), names: columnNames, replace: "unknown column `$1` in USING"},
	{message: regexp.MustCompile("^Function with name `([^`]+)` does not exist$"), names: functionNames},
	{message: regexp.MustCompile(`^Unknown setting '([^']+)'$`), names: settingNames},
}

var (
	unset     = regexp.MustCompile("^parameter `([^`]+)` is not set$")
	wordRegex = regexp.MustCompile(`\w+`)
	aliases   = regexp.MustCompile(`(?i)\bAS\s+(\w+)`)
)

// refusal returns the error of a rejected statement. If a name does not exist, the error suggests similar names.
func (c *Console) refusal(ctx context.Context, statement, text string) error {
	message, code := readFailure(text)
	if c.lookup {
		return c.advised(message, code)
	}
	if m := unset.FindStringSubmatch(message); m != nil {
		for _, name := range spelling.Similar(m[1], c.unused(statement), 1) {
			message += ", and the statement does not use --param " + name
		}
		return c.advised(message, code)
	}
	for _, u := range unknownNames {
		m := u.message.FindStringSubmatchIndex(message)
		if m == nil {
			continue
		}
		name := message[m[2]:m[3]]
		found := spelling.Similar(name, qualified(name, c.known(ctx, u.names, statement)), 3)
		if len(found) == 0 {
			break
		}
		if u.replace != "" {
			message, code = string(u.message.ExpandString(nil, u.replace, message, m)), ""
		}
		message += "; did you mean " + strings.Join(found, ", ") + "?"
		break
	}
	return c.advised(message, code)
}

// unused returns the names of the given parameters that a statement does not use.
func (c *Console) unused(statement string) (names []string) {
	for name := range c.Params {
		if !regexp.MustCompile(`\{\s*` + regexp.QuoteMeta(name) + `\s*:`).MatchString(statement) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// known returns the names that a query selects (see databaseNames). For columns, it adds the aliases that the
// statement itself defines. The query does not use the database and the settings of the console, because they may be
// wrong. If the query fails, known returns nil.
func (c *Console) known(ctx context.Context, query, statement string) (names []string) {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	lookup := &Console{Config: c.Config, settings: url.Values{}, lookup: true}
	lookup.Database = "system"
	lookup.Params = map[string]string{
		"current": c.Database,
		"words":   "['" + strings.Join(wordRegex.FindAllString(statement, maxWords), "','") + "']",
	}
	rows, err := lookup.rows(ctx, query)
	if err != nil {
		return nil
	}
	for _, row := range rows {
		names = append(names, row[0])
	}
	if query == columnNames {
		for _, m := range aliases.FindAllStringSubmatch(statement, maxWords) {
			names = append(names, m[1])
		}
	}
	return names
}

// qualified selects the known names that can be suggested instead of `name`. If `name` has the form
// database.table, it selects names of that form, and otherwise names without a database. There is one exception.
// If a table with exactly this name is in another database, it returns only that table, as database.table.
func qualified(name string, known []string) (names []string) {
	for _, k := range known {
		_, table, ok := strings.Cut(k, ".")
		if ok && table == name {
			return []string{k}
		}
		if ok == strings.Contains(name, ".") {
			names = append(names, k)
		}
	}
	return names
}

// maxWords is the maximum number of the statement's words in the query parameter `words`. It also limits the number of
// aliases that the method `known` reads from the statement.
const maxWords = 500
