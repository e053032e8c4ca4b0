// Package dispatch tells subscribers what happened: it turns events into
// deliveries, makes their attempts on the table of spec 6.4, and records what
// became of them.
package dispatch
