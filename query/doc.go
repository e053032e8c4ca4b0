// Package query answers questions about air: what it is like now, what it was
// like, and where it is measured.
//
// Current answers are bytes made once: after each roll-up a [Snapshot] is built
// and published by swapping a pointer; it is kept on disk as well, so that the
// API answers with the engine down. History is rows in memory over ClickHouse.
package query
