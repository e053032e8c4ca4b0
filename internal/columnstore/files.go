package columnstore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// migration is one numbered SQL file.
type migration struct {
	version uint32
	name    string // of the file
	text    string
}

// sum returns the checksum of the file's text. It shows whether an applied migration was edited later.
func (m migration) sum() string {
	sum := sha256.Sum256([]byte(m.text))
	return hex.EncodeToString(sum[:8])
}

var migrationName = regexp.MustCompile(`^([0-9]{4})_[a-z0-9_]+\.sql$`)

// readMigrations returns the migrations in order. A wrong file name or a duplicate number is an error.
func readMigrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var list []migration
	for _, name := range names {
		m := migrationName.FindStringSubmatch(name)
		if m == nil {
			return nil, fmt.Errorf("migration %q is not named NNNN_name.sql", name)
		}
		version, err := strconv.ParseUint(m[1], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("migration %q: %w", name, err)
		}
		if n := len(list); n > 0 && uint64(list[n-1].version) == version {
			return nil, fmt.Errorf("migrations %q and %q have one number", list[n-1].name, name)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		list = append(list, migration{uint32(version), name, string(text)})
	}
	return list, nil
}

// pendingMigrations returns the files that are not applied. It fails if an applied file is missing or was edited.
func pendingMigrations(files []migration, applied []record) ([]migration, error) {
	known := map[uint32]migration{}
	for _, m := range files {
		known[m.version] = m
	}
	done := map[uint32]bool{}
	for _, r := range applied {
		m, ok := known[r.Version]
		if !ok {
			return nil, fmt.Errorf("the database was migrated by a newer version of this program: it has %s, and the latest file here is %s; upgrade the program",
				r.Name, lastName(files))
		}
		if m.sum() != r.Checksum {
			return nil, fmt.Errorf("%s was edited after it was applied here; put it back and write a new migration", m.name)
		}
		done[r.Version] = true
	}
	return slices.DeleteFunc(slices.Clone(files), func(m migration) bool { return done[m.version] }), nil
}

func lastName(files []migration) string {
	if len(files) == 0 {
		return "none"
	}
	return files[len(files)-1].name
}

// DDL returns the rendered statements that [Migrate] runs on an empty server: they create the database, its table
// "migration", and all tables of files. DDL runs no query.
func DDL(files fs.FS, p Params) ([]string, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	list, err := readMigrations(files)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, m := range append([]migration{{name: "migration", text: ownTables}}, list...) {
		text, err := p.render(m.name, m.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		all = append(all, splitStatements(text)...)
	}
	return all, nil
}

var createTable = regexp.MustCompile("(?im)^CREATE TABLE (?:IF NOT EXISTS )?[^.\\s]+\\.`?([A-Za-z0-9_]+)")

// definedTables returns the names of the tables that the migrations create, in the order of their creation.
func definedTables(files fs.FS, world Params) (tables []string, err error) {
	list, err := readMigrations(files)
	if err != nil {
		return nil, err
	}
	world.Cluster = "" // a cluster's tables have the same names, besides the local ones
	for _, m := range list {
		text, err := world.render(m.name, m.text)
		if err != nil {
			return nil, err
		}
		for _, found := range createTable.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(tables, found[1]) {
				tables = append(tables, found[1])
			}
		}
	}
	return tables, nil
}

// splitStatements splits a text after every ";" that ends a line. It drops statements that have only comments.
func splitStatements(text string) []string {
	var list []string
	var current []string
	code := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if trimmed != "" && !strings.HasPrefix(trimmed, "--") {
			code = true
		}
		body, ended := strings.CutSuffix(trimmed, ";")
		if !ended || strings.HasPrefix(trimmed, "--") {
			current = append(current, strings.TrimRight(line, "\r\n"))
			continue
		}
		current = append(current, body)
		if code && strings.TrimSpace(strings.Join(current, "")) != "" {
			list = append(list, strings.Join(current, "\n"))
		}
		current, code = nil, false
	}
	if code {
		list = append(list, strings.Join(current, "\n"))
	}
	return list
}
