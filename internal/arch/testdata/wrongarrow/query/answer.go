// Package query is a stage.
package query

// Answer is exported so that the package ingest can use it, against the import rules.
const Answer = 42
