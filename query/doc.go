// Package query answers API queries about air quality: current figures
// (concentrations and indices), history, and the places where it is measured.
//
// The package has the parameters, the routes and the errors. After each roll-up
// query/snapshot holds the current answers ready, also on disk, so that the API
// answers while ClickHouse is down. query/history answers about the past.
package query
