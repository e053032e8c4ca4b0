package httpapi

import (
	"net/http"
	"strings"

	"vayu/schema"
)

// Principal is whom a request speaks for.
type Principal struct {
	World   schema.World
	Account string // id of the account
	Key     string // id of the key, never the key itself
	// Scopes are those of the key, as of its admission. The route's own scope is
	// checked before; handlers check what depends on what is asked for.
	Scopes schema.ScopeSet
}

// Owner is whose things the key reaches.
func (p Principal) Owner() schema.Owner { return schema.Owner{Account: p.Account, World: p.World} }

// Access is the one door of the API. It is called by many goroutines at once.
type Access interface {
	// Admit decides by header, address and limits whether a call may go on to
	// its route: key, allow-list, scope, rate, quota. It fills in the call's
	// Principal and Limits as soon as it knows them, also when it refuses. A
	// *schema.Problem that it returns is the client's answer.
	Admit(c *Call, route *Route) (Pass, error)
}

// Pass is the leave for one call.
type Pass interface {
	// Verify checks what depends on the body: a signature, when the key needs
	// one. It is called once, before the handler.
	Verify(c *Call) error
	// Reserve takes room for n calls in all from the account's quota, of which Admit
	// has taken one. The same n again takes no more. When there is less room it takes
	// none and returns a *schema.Problem.
	Reserve(c *Call, n int64) error
	// End is called once with the status of the reply, before its header is
	// written: it counts the call and brings Limits up to date.
	End(c *Call, status int)
}

// Limits is what a reply tells about the limits of its key and account.
type Limits struct {
	Rate  Rate
	Quota Quota
}

// Rate is the state of a token bucket; Burst 0 means that there is none.
type Rate struct {
	PerSecond int
	Burst     int
	Remaining int // calls that would go through at once
	Reset     int // seconds until the bucket is full again
}

// Quota is what an account has used of its month; Limit 0 means that nothing is
// counted.
type Quota struct {
	Limit int64
	Used  int64
	Reset int64 // Unix seconds of the next month's begin, UTC
}

// BearerKey returns the key of the request's one Authorization header. The
// scheme's name may be written in any case (RFC 9110, 11.1).
func BearerKey(r *http.Request) (string, error) {
	values := r.Header["Authorization"]
	if len(values) == 0 {
		return "", schema.Refuse(schema.Unauthorized, "", "Send your API key in the header Authorization: Bearer <key>.")
	}
	scheme, key, _ := strings.Cut(values[0], " ")
	key = strings.TrimSpace(key)
	if len(values) > 1 || !strings.EqualFold(scheme, "bearer") || key == "" {
		return "", schema.Refuse(schema.Unauthorized, "", "The Authorization header must be: Bearer <key>.")
	}
	return key, nil
}
