package httpapi

import (
	"net/http"
	"net/netip"
)

// Call is one admitted request.
type Call struct {
	*http.Request
	Principal
	ID     string     // the request id
	Client netip.Addr // client address: of the socket, or from a trusted proxy
	// BySession means that the call carries a browser session instead of a key in a header. Its
	// path was below SessionPrefix.
	BySession bool
	Session   string // id of that session; empty unless BySession
	Body      []byte // the whole body; nil for none
	// Count is the number of calls that this one counts for in the quota: 1 unless the handler sets
	// more, as a bulk call does.
	Count  int64
	Limits Limits
	pass   Pass // from Admit; nil for none
}

// Reserve checks that the account's quota has room for n calls. A handler whose call counts as n
// calls it before the work. It is idempotent, so that a retried transaction may call it again. The
// error is a *schema.Problem with quota_exceeded.
func (c *Call) Reserve(n int64) error {
	if c.pass == nil {
		return nil
	}
	return c.pass.Reserve(c, n)
}

// Class returns the bucket of the call on a route. Sessions have their own bucket, except where
// money moves.
func (c *Call) Class(r *Route) LimitClass {
	if c.BySession && r.Limit == Calls {
		return Viewing
	}
	return r.Limit
}

// Handler answers a call. A *schema.Problem becomes the reply; other errors are logged and answered
// as internal_error.
type Handler func(*Call) (Response, error)

// Route is an endpoint of the API.
type Route struct {
	Method string
	Path   string // a gorilla/mux template
	Scope  string // required scope; empty for any valid key
	// Limit is the token bucket of the route.
	Limit LimitClass
	// Body is the largest JSON body in bytes; 0 means that the route takes none.
	Body int64
	// Type lists media types besides JSON that the route offers through Accept, separated by a
	// comma and a blank; empty for none.
	Type string
	// NoAuth means that the call needs no key. The handler authenticates the caller itself, and
	// nothing is limited or counted.
	NoAuth  bool
	Handler Handler
}

// Body limits of routes.
const (
	SmallBody = 64 << 10
	BatchBody = 8 << 20
)

// LimitClass is one of the buckets of each key.
type LimitClass uint8

const (
	// Calls is the default bucket.
	Calls LimitClass = iota
	// Money is the bucket of recharges and verifications.
	Money
	// Viewing is the bucket of browser sessions. So people and the programs with the same key do
	// not use up each other's calls.
	Viewing
)

// LimitClasses is the number of classes.
const LimitClasses = 3
