package dump

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/pressly/goose/v3"

	"vayu/internal/sqlstore/migration"
)

// table describes one table of the store.
type table struct {
	name    string
	columns []column
	key     []string // names of the columns of the primary key
	parents []string // tables to which the rows of this table refer
}

type column struct {
	name string
	kind kind
}

// kind is a column type that both engines have.
type kind int

const (
	text kind = iota
	integer
	binary
)

// kinds maps the column types that the migrations use to kinds.
var kinds = map[string]kind{"TEXT": text, "BIGINT": integer, "INTEGER": integer, "BYTEA": binary}

// tables returns the tables that the migrations up to a version (0 for the newest) create, and that version. Each table
// comes after the tables that its rows refer to. Table commit_proof is omitted, because only earlier versions used its
// rows. The schema is read from a SQLite database in memory, so that it is the same for both engines.
func tables(ctx context.Context, to int64) (all []table, at int64, err error) {
	memory, err := sql.Open("sqlite", ":memory:?_dqs=0")
	if err != nil {
		return nil, 0, err
	}
	defer memory.Close()
	memory.SetMaxOpenConns(1) // each connection would open another, empty database
	if err := migration.Apply(ctx, goose.DialectSQLite3, memory, to); err != nil {
		return nil, 0, err
	}
	if at, err = migration.Version(ctx, memory); err != nil {
		return nil, 0, err
	}
	names, err := stringColumn(ctx, memory, `SELECT name FROM sqlite_schema
		WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT IN ('goose_db_version', 'commit_proof') ORDER BY name`)
	if err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		t, err := describe(ctx, memory, name)
		if err != nil {
			return nil, 0, fmt.Errorf("reading what table %q is: %w", name, err)
		}
		all = append(all, t)
	}
	all, err = parentsFirst(all)
	return all, at, err
}

func describe(ctx context.Context, db *sql.DB, name string) (t table, err error) {
	t = table{name: name}
	rows, err := db.QueryContext(ctx, "SELECT name, type, pk FROM pragma_table_info($1) ORDER BY cid", name)
	if err != nil {
		return table{}, err
	}
	defer rows.Close()
	for rows.Next() {
		var c column
		var typed string
		var key int
		if err := rows.Scan(&c.name, &typed, &key); err != nil {
			return table{}, err
		}
		var ok bool
		if c.kind, ok = kinds[typed]; !ok {
			return table{}, fmt.Errorf("column %q is %s, which a dump does not support", c.name, typed)
		}
		t.columns = append(t.columns, c)
		if key > 0 {
			t.key = append(t.key, c.name)
		}
	}
	if err := rows.Err(); err != nil {
		return table{}, err
	}
	t.parents, err = stringColumn(ctx, db, `SELECT DISTINCT "table" FROM pragma_foreign_key_list($1) ORDER BY 1`, name)
	return t, err
}

// stringColumn returns the strings in the only column of a query's result.
func stringColumn(ctx context.Context, db *sql.DB, query string, args ...any) (all []string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// parentsFirst sorts tables so that each table comes after the tables that its rows refer to. A table may refer to
// itself. Its rows are dumped in key order, and ids grow with time. So a row comes after the row that it refers to.
func parentsFirst(all []table) (sorted []table, err error) {
	placed := map[string]bool{}
	for len(sorted) < len(all) {
		before := len(sorted)
		for _, t := range all {
			waits := slices.ContainsFunc(t.parents, func(p string) bool { return p != t.name && !placed[p] })
			if !placed[t.name] && !waits {
				placed[t.name] = true
				sorted = append(sorted, t)
			}
		}
		if len(sorted) == before {
			return nil, errors.New("tables refer to each other in a circle, so that no order fills them")
		}
	}
	return sorted, nil
}
