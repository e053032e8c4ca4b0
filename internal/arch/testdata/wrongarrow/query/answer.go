// Package query is a stage.
package query

// Answer is exported so that another package can be wrong to use it.
const Answer = 42
