// Package sql has the migrations of the state store as numbered SQL files. The same text is used for SQLite and
// PostgreSQL. A released file is never edited; a later change is a new file.
package sql

import "embed"

// Files has the migrations, in the format of goose (github.com/pressly/goose).
//
//go:embed *.sql
var Files embed.FS
