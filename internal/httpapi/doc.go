// Package httpapi is the HTTP layer that all endpoints share. It provides the route table, access,
// request ids, error bodies, conditional requests, compression, metrics and server time-outs. It
// has no domain logic.
package httpapi
