package httpapi

import (
	"net/http"
	"net/netip"
)

// Call is one request, with the facts about its caller that the router and [Access] have determined.
type Call struct {
	*http.Request
	Principal
	ID     string     // the request id
	Client netip.Addr // address of the client, as server.Proxies.Client returns it; invalid on a Unix socket
	// BySession means that the call carries a browser session instead of a key in a header. Its path was below
	// SessionPrefix, which the router has removed.
	BySession bool
	Session   string // id of the browser session; empty unless BySession
	// Class is the class of token buckets from which the call takes a token. Calls of browser sessions have the
	// class Viewing, except for recharges and verifications.
	Class LimitClass
	// Params has the query parameters that the client sent. It is nil for a [Route] without Params or with OwnQuery.
	Params   map[string]string
	Body     []byte // the whole body; nil for none
	BodyType string // media type of Body if it is one of [Route].BodyTypes; empty for JSON
	// Count is the number of calls of the quota that this call uses. It is 1 unless the handler sets a larger number,
	// for example for a batch.
	Count  int64
	Limits Limits
	pass   Pass // admission of the call; nil before Access.Admit, and if Admit fails
}

// Reserve reserves n calls of the account's quota for this call. A handler that sets Count to n must call Reserve
// before its work. Reserve is idempotent, so a retried transaction can call it again. If the quota has too few calls
// left, the error is a *schema.Problem with the code quota_exceeded.
func (c *Call) Reserve(n int64) error {
	if c.pass == nil {
		return nil
	}
	return c.pass.Reserve(c, n)
}

// Who identifies a caller in the audit log: id of the key, id of the request, and address of the client.
type Who struct{ Key, Request, Client string }

// Who returns the key, the request id and the client address of c, for the audit log.
func (c *Call) Who() Who {
	who := Who{Key: c.Key, Request: c.ID}
	if c.Client.IsValid() {
		who.Client = c.Client.String()
	}
	return who
}

// Handler answers a call. If the error is a *schema.Problem, it becomes the reply. The router answers
// context.DeadlineExceeded with service_unavailable, and any other error with internal_error.
type Handler func(*Call) (Response, error)

// Route is an endpoint of the API.
type Route struct {
	Method string
	Path   string // a gorilla/mux template
	Scope  string // required scope; empty for any valid key
	// Params are the names of the query parameters. The router parses the query and rejects all other parameters.
	Params []string
	// OwnQuery means that the handler parses the query itself.
	OwnQuery bool
	// Limit is the class of token buckets from which calls of this endpoint take a token.
	Limit LimitClass
	// Body is the size of the largest body in bytes; 0 means that the endpoint takes no body.
	Body int64
	// BodyTypes are the media types besides JSON that a body can have.
	BodyTypes []string
	// Type lists the media types besides JSON that a client can select with Accept, joined by ", ". It may be empty.
	Type string
	// NoAuth means that the router requires no key. The handler itself authenticates the caller, if necessary. No rate
	// limit and no quota apply, and the call is not counted. Web pages of every origin may read the reply to GET.
	NoAuth  bool
	Handler Handler
}

// Serve parses the query of a call and runs the handler. Only the router and tests call it.
func (r *Route) Serve(c *Call) (resp Response, err error) {
	if !r.OwnQuery && (r.Params != nil || c.URL.RawQuery != "") {
		if c.Params, err = parameters(c.URL.RawQuery, r.Params); err != nil {
			return Response{}, err
		}
	}
	return r.Handler(c)
}

// Values of [Route].Body, in bytes.
const (
	SmallBody = 64 << 10
	BatchBody = 8 << 20
)

// LimitClass is a class of token buckets. A key has one bucket per class. An account has one per class and world.
type LimitClass uint8

const (
	// Calls is the default class.
	Calls LimitClass = iota
	// Money is the class of recharges and verifications.
	Money
	// Viewing is the class of browser sessions, except for recharges and verifications. With a class of their own,
	// dashboard users and programs that share a key do not use up each other's tokens.
	Viewing
)

// LimitClasses is the number of values of LimitClass.
const LimitClasses = 3
