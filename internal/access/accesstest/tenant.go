// Package accesstest gives tests of endpoints what stands around them: accounts with
// keys, a service that admits them, and a door behind which every reply is compared with
// the contract.
package accesstest

import (
	"encoding/base64"
	"testing"
	"time"

	"vayu/internal/access"
	"vayu/internal/config"
	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Plans has one plan, without a limit.
var Plans = map[string]int64{"unlimited": 0}

// Box is a box whose key is the same in every test.
func Box(tb testing.TB) *encryption.Box {
	tb.Helper()
	box, err := encryption.Open(config.NewSecret(base64.StdEncoding.EncodeToString(make([]byte, 32))), "")
	if err != nil {
		tb.Fatal(err)
	}
	return box
}

// ClaimedBox is [Box] as the one of a store: it can make digests.
func ClaimedBox(tb testing.TB, db *sqlstore.DB) *encryption.Box {
	tb.Helper()
	box := Box(tb)
	if err := box.Claim(tb.Context(), db); err != nil {
		tb.Fatal(err)
	}
	return box
}

// Tenant is an account with a key of every scope for each world.
type Tenant struct {
	ID   string
	Keys [len(schema.Worlds)]string
}

// In is the tenant in a world.
func (a Tenant) In(w schema.World) schema.Owner { return schema.Owner{Account: a.ID, World: w} }

// AddTenant makes an account and its keys.
func AddTenant(tb testing.TB, db *sqlstore.DB, name string) (a Tenant) {
	tb.Helper()
	err := db.Update(tb.Context(), func(tx *sqlstore.Tx) error {
		h, _, err := access.CreateAccount(tx, Plans, name, "unlimited", time.Now())
		if err != nil {
			return err
		}
		a.ID = h.ID
		for _, w := range schema.Worlds {
			made, _, err := access.CreateKey(tx, Box(tb), access.KeySpec{Account: h.ID, World: w, Scopes: schema.Scopes}, time.Now())
			if err != nil {
				return err
			}
			a.Keys[w] = made.Key
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// Access is a service that admits the tenants of a store, without rate limits. It
// does not run: Refresh makes it know tenants that were added later.
func Access(tb testing.TB, db *sqlstore.DB, now func() time.Time) *access.Service {
	tb.Helper()
	s, err := access.New(access.Config{DB: db, Box: ClaimedBox(tb, db), Settings: access.Settings{Plans: Plans}, Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.Refresh(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return s
}
