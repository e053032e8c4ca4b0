// Package sql holds the migrations of the state store: numbered SQL files, one
// text for SQLite and PostgreSQL. A released file is never changed; a change is a
// new file.
package sql

import "embed"

// Files are the migrations, in goose's format.
//
//go:embed *.sql
var Files embed.FS
