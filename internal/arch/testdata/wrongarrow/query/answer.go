// Package query is a stage.
package query

// Answer is exported so that somebody can be wrong to use it.
const Answer = 42
