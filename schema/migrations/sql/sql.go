// Package sql holds the tables of the state store: numbered SQL files, one
// text for SQLite and PostgreSQL. A file that was released is never changed;
// what comes later is a new file.
package sql

import "embed"

// Files are the migrations, in goose's format.
//
//go:embed *.sql
var Files embed.FS
