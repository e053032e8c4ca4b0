package httpapi

import "net/http"

// credential is the kind of header that identifies the caller. Each reply to an identified caller
// names the header in Vary, so that a cache does not send the reply to another caller.
type credential uint8

const (
	noCredential credential = iota
	keyCredential
	sessionCredential
)

// add sets the Vary header of a reply that also depends on Accept-Encoding. On HTTP/1, the Vary
// line for the credential is already in the [server.HeaderBlock], so add causes a second Vary line.
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
