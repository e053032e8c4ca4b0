package migration

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

// file is one migration: an SQL file with a number.
type file struct {
	version uint32
	name    string
	text    string
}

// sum returns the checksum of the text. It shows whether an applied file was edited later.
func (f file) sum() string {
	sum := sha256.Sum256([]byte(f.text))
	return hex.EncodeToString(sum[:8])
}

var fileName = regexp.MustCompile(`^([0-9]{4})_[a-z0-9_]+\.sql$`)

// readFiles returns the migrations in order. A wrong file name or a duplicate number is an error.
func readFiles(files fs.FS) ([]file, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var list []file
	for _, name := range names {
		m := fileName.FindStringSubmatch(name)
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
		list = append(list, file{uint32(version), name, string(text)})
	}
	return list, nil
}

// pendingFiles returns the files that are not applied. It fails if an applied file is missing or was edited.
func pendingFiles(files []file, applied []Record) ([]file, error) {
	known := map[uint32]file{}
	for _, f := range files {
		known[f.version] = f
	}
	done := map[uint32]bool{}
	for _, r := range applied {
		f, ok := known[r.Version]
		if !ok {
			return nil, fmt.Errorf("the database was migrated by a newer version of this program: it has %s, and the latest file here is %s; upgrade the program",
				r.Name, lastName(files))
		}
		if f.sum() != r.Checksum {
			return nil, fmt.Errorf("%s was edited after it was applied here; put it back and write a new migration", f.name)
		}
		done[r.Version] = true
	}
	return slices.DeleteFunc(slices.Clone(files), func(f file) bool { return done[f.version] }), nil
}

func lastName(files []file) string {
	if len(files) == 0 {
		return "none"
	}
	return files[len(files)-1].name
}

// DDL returns the SQL statements that [Apply] runs on an empty server. The statements create the database, its table
// "migration", and all tables of p.Files. DDL runs no query.
func DDL(p Params) ([]string, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	list, err := readFiles(p.Files)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, f := range append([]file{{name: recordTable, text: recordDDL}}, list...) {
		text, err := p.render(f.name, f.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		all = append(all, splitStatements(text)...)
	}
	return all, nil
}

var createTable = regexp.MustCompile("(?im)^CREATE TABLE (?:IF NOT EXISTS )?[^.\\s]+\\.`?([A-Za-z0-9_]+)")

// Tables returns the names of the tables that p.Files create, in the order of their creation. It omits the local tables
// of a cluster and the table "migration".
func Tables(p Params) (tables []string, err error) {
	p.Cluster = ""
	statements, err := DDL(p)
	for _, statement := range statements {
		found := createTable.FindStringSubmatch(statement)
		if len(found) == 2 && found[1] != recordTable && !slices.Contains(tables, found[1]) {
			tables = append(tables, found[1])
		}
	}
	return tables, err
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
