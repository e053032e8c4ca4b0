// Package httpapi is the HTTP side that all endpoints share: one table of routes,
// access, request ids, the error body, conditional requests, compression,
// metrics and the server's time-outs. It has no opinion about air or money.
package httpapi
