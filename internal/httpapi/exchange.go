package httpapi

import (
	"net/http"

	"vayu/internal/httpapi/server"
)

// exchange is the router's state of one request and its reply. It is one struct, so that a request needs a
// single allocation.
type exchange struct {
	http.ResponseWriter
	call       Call
	LimitClass                     // class of token buckets from which the call takes a token
	pass       Pass                // admission of the call; nil before Admit and after end
	head       *server.HeaderBlock // nil if the router's headers go into net/http's map
	limited    bool                // the rate-limit headers are written
	varied     bool                // the header Vary is decided
}

// end passes the status of the reply to the Pass of the call (its admission by Access), if the call was admitted.
// Further calls of end do nothing.
func (x *exchange) end(status int) {
	pass := x.pass
	if pass == nil {
		return
	}
	x.pass = nil // before pass.End: after a panic in pass.End, end must not call it again
	pass.End(&x.call, status)
}

// newExchange starts the reply to a request with the common headers.
func (rt *router) newExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{ResponseWriter: w}
	x.call.Request = r
	x.call.ID = requestID(r)
	x.call.Client = rt.proxies.Client(r)
	x.head = server.HeaderBlockOf(r)
	x.constant("X-Request-Id", []string{x.call.ID})
	x.constant("X-SERVICE-Version", version)
	x.constant("X-Content-Type-Options", noSniff)
	if server.Ambiguous(r) {
		w.Header()["Connection"] = closing
	}
	if r.TLS != nil {
		x.constant("Strict-Transport-Security", onlyTLS)
	}
	return x
}

// bySession marks the call as a call of a browser session. It returns a copy of the request whose path is the parameter
// path, which lacks SessionPrefix.
func (x *exchange) bySession(path string) *http.Request {
	r := *x.call.Request
	at := *r.URL
	at.Path, at.RawPath = path, ""
	r.URL = &at
	x.call.Request, x.call.BySession = &r, true
	return &r
}

// set writes one of the router's headers. The parameter value must not contain line breaks.
func (x *exchange) set(name string, value []byte) {
	if x.head == nil {
		x.Header()[name] = []string{string(value)}
		return
	}
	x.head.AddBytes(name, value)
}

// constant writes one of the router's headers. The slice value has one element and must not be changed
// later, because net/http's header map may keep the slice itself.
func (x *exchange) constant(name string, value []string) {
	if x.head == nil {
		x.Header()[name] = value
		return
	}
	x.head.Add(name, value[0])
}

// begin ends the router's part of the header, and returns the writer for the rest of the reply. After begin, the
// connection owns the header block. It releases the block with the next status line, even if that line belongs to
// another reply.
func (x *exchange) begin() http.ResponseWriter {
	x.head = nil
	return x.ResponseWriter
}
