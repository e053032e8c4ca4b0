package httpapi

import (
	"net/http"
	"net/netip"
)

// Call is one admitted request on its way through a handler.
type Call struct {
	*http.Request
	Principal
	ID     string     // the request id
	Client netip.Addr // who asks: the socket's address, or what a trusted proxy says
	// BySession says that a browser asks that has signed in: its session says whose
	// key it acts for, in place of a header. Such a call came to below SessionPrefix.
	BySession bool
	Session   string // id of that session; empty unless BySession
	Body      []byte // the whole body as it came; nil for none
	// Count is how many calls this one counts as towards the quota: 1 unless the
	// handler says more, as a bulk question does.
	Count  int64
	Limits Limits
	pass   Pass // what Admit gave; nil for none
}

// Reserve makes sure that the account's quota has room for n calls, for a call that
// will count as so many: a handler asks before it does the work. It may ask again, as a
// change does that is tried again. The error is a *schema.Problem with quota_exceeded.
func (c *Call) Reserve(n int64) error {
	if c.pass == nil {
		return nil
	}
	return c.pass.Reserve(c, n)
}

// Class is the bucket that the call draws from on a route. What a browser asks with
// its session has one of its own, but for what is bounded because money moves.
func (c *Call) Class(r *Route) LimitClass {
	if c.BySession && r.Limit == Calls {
		return Viewing
	}
	return r.Limit
}

// Handler answers a call. A *schema.Problem is the client's answer; every other
// error is logged and answered as internal_error.
type Handler func(*Call) (Response, error)

// Route is one line of the table of routes.
type Route struct {
	Method string
	Path   string // a gorilla/mux template
	Scope  string // what the key must hold; empty: any valid key will do
	// Limit is the token bucket that the route draws from.
	Limit LimitClass
	// Body is the most bytes of a JSON body; 0 means that the route takes none.
	Body int64
	// Type is a media type that the route can answer with beside JSON, when Accept
	// asks for it, or several, separated by a comma and a blank; empty for none.
	Type string
	// Unkeyed says that whoever asks has no key, and that the handler makes sure
	// who it is: nothing is limited or counted.
	Unkeyed bool
	Handler Handler
}

// Body limits of routes.
const (
	SmallBody = 64 << 10
	BatchBody = 8 << 20
)

// LimitClass names one of the buckets that each key has.
type LimitClass uint8

const (
	// Calls is the bucket of all routes that do not say otherwise.
	Calls LimitClass = iota
	// Money is the bucket of recharges and verifications.
	Money
	// Viewing is the bucket of what people look at in a browser, so that they and
	// the programs that use the same key do not take each other's calls away.
	Viewing
)

// LimitClasses is how many classes there are.
const LimitClasses = 3
