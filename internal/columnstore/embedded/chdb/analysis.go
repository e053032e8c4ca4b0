package chdb

import (
	"errors"
	"runtime"
	"unsafe"
)

// Class is the class of a statement by its effect, according to the engine's parser. The values are those of chdb.h.
type Class uint32

// Classes of statements.
const (
	ReadOnly Class = iota // SELECT, SHOW, DESCRIBE, EXPLAIN, EXISTS, CHECK
	Mutating              // INSERT, and changes of tables and databases
	Global                // functions, users, named collections
	Control               // SET, USE, SYSTEM, KILL, temporary tables, INTO OUTFILE, INSERT INTO FUNCTION
	Unknown               // not SQL
)

// Analysis is the result of parsing an SQL text with the engine's parser.
type Analysis struct {
	Statements int
	Class      Class // of the most restricted statement
}

// Analyse parses a text without running it.
func (c *Connection) Analyse(text string) (Analysis, error) {
	out := struct{ size, statements, flags, class uint32 }{size: 16}
	query := append([]byte(text), 0)
	database := []byte("default\x00")
	failed := c.lib.classify(c.inner(), unsafe.Pointer(&query[0]), uintptr(len(text)), unsafe.Pointer(&database[0]), uintptr(len(database)-1), unsafe.Pointer(&out))
	runtime.KeepAlive(query)
	runtime.KeepAlive(database)
	if failed != 0 {
		return Analysis{}, errors.New("the engine does not analyse the statement")
	}
	return Analysis{Statements: int(out.statements), Class: Class(out.class)}, nil
}
