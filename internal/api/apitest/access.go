// Package apitest gives tests of HTTP endpoints what stands around them: a door
// with two keys, and the check of every reply against the contract. A test wraps
// the handler that it serves in Checked, or the transport of its client in
// Transport, and each reply that strays from schema.OpenAPI fails it.
package apitest

import (
	"vayu/internal/api"
	"vayu/schema"
)

// Keys is an Access that knows a key for each world, which has every scope and
// no limits.
type Keys [len(schema.Worlds)]string

// Admit implements api.Access.
func (k Keys) Admit(c *api.Call, _ *api.Route) (api.Pass, error) {
	key, err := api.BearerKey(c.Request)
	if err != nil {
		return nil, err
	}
	for _, w := range schema.Worlds {
		if key == k[w] {
			c.Principal = api.Principal{World: w, Account: "acc_" + w.String(), Key: "key_" + w.String(), Scopes: schema.SetOf(schema.Scopes...)}
			return open{}, nil
		}
	}
	return nil, schema.Refuse(schema.Unauthorized, "", "The API key is not known.")
}

// open is the Pass without limits.
type open struct{}

// Verify implements api.Pass.
func (open) Verify(*api.Call) error { return nil }

// Reserve implements api.Pass.
func (open) Reserve(*api.Call, int64) error { return nil }

// End implements api.Pass.
func (open) End(*api.Call, int) {}
