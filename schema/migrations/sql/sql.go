// Package sql has the migrations of the state store: numbered SQL files, with one text
// for both SQLite and PostgreSQL. A released file is never edited. A later change is a
// new file.
package sql

import "embed"

// Files has the migrations, in the format of goose (github.com/pressly/goose).
//
//go:embed *.sql
var Files embed.FS
