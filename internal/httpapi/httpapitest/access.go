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
			return open{}, nil
		}
	}
	return nil, schema.NewProblem(schema.Unauthorized, "", "The API key is unknown.")
}

// open is an httpapi.Pass (the admission of a call) without limits.
type open struct{}

// Verify accepts every request. It implements httpapi.Pass.
func (open) Verify(*httpapi.Call) error { return nil }

// Reserve always succeeds. It implements httpapi.Pass.
func (open) Reserve(*httpapi.Call, int64) error { return nil }

// End does nothing. It implements httpapi.Pass.
func (open) End(*httpapi.Call, int) {}
