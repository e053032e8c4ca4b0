// Package query answers API queries about air quality: current figures
// (concentrations and indices), history, and the places where it is measured.
//
// After each roll-up the package builds a [Snapshot], which holds the current
// answers as bytes, and publishes it with a pointer swap. The snapshot is also kept
// on disk, so that the API answers while ClickHouse is down. History is cached in
// memory over ClickHouse.
package query
