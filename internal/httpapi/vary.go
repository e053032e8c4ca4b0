package httpapi

import (
	"net/http"
	"strconv"
)

// credential is the header that identifies the caller. Replies vary by it: caches must not give one
// key's reply to another.
type credential uint8

const (
	noCredential credential = iota
	keyCredential
	sessionCredential
)

// credentialOf returns the credential of a call on a route.
func credentialOf(c *Call, route *Route) credential {
	switch {
	case c.BySession:
		return sessionCredential
	case route.NoAuth:
		return noCredential
	}
	return keyCredential
}

// add sets the Vary header of a reply that also varies by encoding. On HTTP/1 the credential's own
// line is in the header block already, and a second line adds to it.
func (v credential) add(h http.Header) {
	if h["Vary"] == nil {
		h["Vary"] = varyHeader
		return
	}
	h["Vary"] = varyKeyed
	if v == sessionCredential {
		h["Vary"] = varySession
	}
}

// varyBy writes the Vary header of the credential.
func (x *exchange) varyBy(v credential) {
	x.varied = true
	switch v {
	case keyCredential:
		x.constant("Vary", varyKey)
	case sessionCredential:
		x.constant("Vary", varyCookie)
	default:
	}
}

// age writes the headers about the age of an answer.
func (x *exchange) age(resp *Response) {
	if resp.Measured == 0 {
		return
	}
	var buf [20]byte
	x.set("X-SERVICE-Data-Age", strconv.AppendInt(buf[:0], resp.DataAge, 10))
	if resp.Stale {
		x.constant("X-SERVICE-Stale", staleMark)
	}
}
