// Package httpapitest provides the environment for tests of HTTP endpoints: an Access with two
// keys, and the check of every reply against the contract. A test wraps its handler with Checked,
// or its client's transport with Transport. Each reply that differs from schema.OpenAPI fails the
// test.
package httpapitest

import (
	"vayu/internal/httpapi"
	"vayu/schema"
)

// Keys is an Access with one key for each world, which has every scope and no limits.
type Keys [len(schema.Worlds)]string

// Admit implements httpapi.Access.
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
	return nil, schema.NewProblem(schema.Unauthorized, "", "The API key is not known.")
}

// open is the Pass without limits.
type open struct{}

// Verify implements httpapi.Pass.
func (open) Verify(*httpapi.Call) error { return nil }

// Reserve implements httpapi.Pass.
func (open) Reserve(*httpapi.Call, int64) error { return nil }

// End implements httpapi.Pass.
func (open) End(*httpapi.Call, int) {}
