package httpapi

import (
	"net/http"
	"strings"

	"vayu/schema"
)

// Principal identifies the account, the key and the world (live or sandbox) of a request.
type Principal struct {
	World   schema.World
	Account string // id of the account
	Key     string // id of the key, never the key itself
	// Scopes are the key's scopes when the call was admitted. Access checks the scope of the endpoint.
	// Handlers check scopes that depend on the parameters of the call.
	Scopes schema.ScopeSet
}

// Owner returns the owner of the data that the key can access.
func (p Principal) Owner() schema.Owner { return schema.Owner{Account: p.Account, World: p.World} }

// Access authenticates calls and enforces their limits. It is safe for concurrent use.
type Access interface {
	// Admit decides whether a call may reach its handler. It checks the key, the allow-list, the
	// scope, the rate and the quota. It sets the call's Principal and Limits as soon as it has
	// them, even if it then returns an error. An error that is a *schema.Problem becomes the reply.
	Admit(c *Call, route *Route) (Pass, error)
}

// Pass is the admission of one call. With the Pass, the router finishes the checks of the call and counts the call.
type Pass interface {
	// Verify checks the signature of the request, if the key requires one. Verify needs the body, so the
	// router calls Verify after reading the body and before the handler.
	Verify(c *Call) error
	// Reserve raises the call's reservation to n calls of the account's quota. For a call that the quota does not
	// count, Reserve does nothing. If the quota has too few calls left, the reservation stays unchanged, and the error
	// is a *schema.Problem. Reserve is idempotent.
	Reserve(c *Call, n int64) error
	// End counts the call and updates the quota in the call's Limits. The router calls End once with the status of the
	// reply, before it writes the header.
	End(c *Call, status int)
}

// Limits holds the limits of a key and its account, which the headers of the reply report.
type Limits struct {
	Rate  Rate
	Quota Quota
}

// Rate is the state of a token bucket. A Burst of 0 means no limit.
type Rate struct {
	PerSecond int
	Burst     int
	Remaining int // calls that are allowed now
	Reset     int // seconds until the bucket is full again
}

// Quota is the account's use of its monthly quota of calls. A Limit of 0 means no limit.
type Quota struct {
	Limit int64
	Used  int64
	Reset int64 // start of the next month, Unix seconds
}

// BearerKey returns the API key in the Authorization header. It fails unless there is exactly one such header,
// with the scheme Bearer. The name of the scheme is case-insensitive (RFC 9110, 11.1).
func BearerKey(r *http.Request) (string, error) {
	values := r.Header["Authorization"]
	if len(values) == 0 {
		return "", schema.NewProblem(schema.Unauthorized, "", "Send your API key in the header Authorization: Bearer <key>.")
	}
	scheme, key, _ := strings.Cut(values[0], " ")
	key = strings.TrimSpace(key)
	if len(values) > 1 || !strings.EqualFold(scheme, "bearer") || key == "" {
		return "", schema.NewProblem(schema.Unauthorized, "", "The Authorization header must be: Bearer <key>.")
	}
	return key, nil
}
