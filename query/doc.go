// Package query answers API queries about air quality: current figures (concentrations and indices), history, and the
// places where air quality is measured.
//
// The package has the routes and the errors. query/request has the parameters of GET /v1/aqi. After each roll-up,
// query/snapshot prepares the current answers in memory and on disk. The API can therefore answer while ClickHouse is
// down. query/history answers queries about past days and hours. query/scales adds indices of other scales.
package query
