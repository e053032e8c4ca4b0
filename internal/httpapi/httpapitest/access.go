// Package httpapitest helps to test HTTP endpoints. It has an httpapi.Access with two keys, and checks every
// reply against the contract, schema.OpenAPI. A test wraps its handler with Checked, or its client's transport
// with Transport. The test fails if a reply violates the contract.
package httpapitest

import (
	"vayu/internal/httpapi"
	"vayu/schema"
)

// Keys is an httpapi.Access with one API key for each world (live and sandbox). Both keys have every scope and
// no limits.
type Keys [len(schema.Worlds)]string

// Admit admits a call with one of the keys, and rejects other calls. It implements httpapi.Access.
func (k Keys) Admit(c *httpapi.Call, _ *httpapi.Route) (httpapi.Pass, error) {
	key, err := httpapi.BearerKey(c.Request)
	if err != nil {
		return nil, err
	}
	for _, w := range schema.Worlds {
		if key == k[w] {
			c.Principal = httpapi.Principal{World: w, Account: "acc_" + w.String(), Key: "key_" + w.String(), Scopes: schema.SetOf(schema.Scopes...)}
			return struct{ httpapi.NoLimits }{}, nil // not NoLimits itself, which is for calls without a key
		}
	}
	return nil, schema.NewProblem(schema.Unauthorized, "", "The API key is unknown.")
}
