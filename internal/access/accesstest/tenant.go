// Package accesstest provides accounts with keys, a service that admits their calls, and a client for endpoint tests.
package accesstest

import (
	"encoding/base64"
	"testing"
	"time"

	"vayu/internal/access"
	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/config"
	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// Plans are the plans of accounts in tests. "unlimited" has no limit; every configuration needs "free".
var Plans = map[string]int64{"unlimited": 0, "free": 1000}

// Cipher returns a cipher with the same key in every test.
func Cipher(tb testing.TB) *encryption.Cipher {
	tb.Helper()
	c, err := encryption.Open(config.NewSecret(base64.StdEncoding.EncodeToString(make([]byte, 32))), "")
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// ClaimedCipher returns [Cipher] bound to a store, so that the cipher can make digests for the store.
func ClaimedCipher(tb testing.TB, db *sqlstore.DB) *encryption.Cipher {
	tb.Helper()
	c := Cipher(tb)
	if err := c.Claim(tb.Context(), db); err != nil {
		tb.Fatal(err)
	}
	return c
}

// Tenant is an account with one key in each world (live and sandbox). The keys have every scope.
type Tenant struct {
	ID   string
	Keys [len(schema.Worlds)]string
}

// In returns the tenant as the owner of data in a world (live or sandbox).
func (a Tenant) In(w schema.World) schema.Owner { return schema.Owner{Account: a.ID, World: w} }

// AddTenant creates an account and its keys.
func AddTenant(tb testing.TB, db *sqlstore.DB, name string) (a Tenant) {
	tb.Helper()
	sqlstoretest.Update(tb, db, func(tx *sqlstore.Tx) error {
		h, _, err := account.Create(tx, Plans, name, "unlimited", time.Now())
		a.ID = h.ID
		return err
	})
	for _, w := range schema.Worlds {
		a.Keys[w] = AddKey(tb, db, a.In(w), schema.Scopes...)
	}
	return a
}

// AddKey creates a key with the given scopes, or with the default scopes if there are none, and returns it.
func AddKey(tb testing.TB, db *sqlstore.DB, of schema.Owner, scopes ...schema.Scope) (key string) {
	tb.Helper()
	sqlstoretest.Update(tb, db, func(tx *sqlstore.Tx) error {
		made, _, err := apikey.Create(tx, Cipher(tb), apikey.Spec{Account: of.Account, World: of.World, Scopes: scopes}, time.Now())
		key = made.Key
		return err
	})
	return key
}

// Access returns a service that admits the tenants of a store, without rate limits. The service does not refresh its
// cache by itself, so call Refresh after adding tenants. A refresh waits up to a minute for a busy store.
func Access(tb testing.TB, db *sqlstore.DB, now func() time.Time) *access.Service {
	tb.Helper()
	s := access.New(access.Config{DB: db, Cipher: ClaimedCipher(tb, db), Settings: access.Settings{Plans: Plans}, Now: now, Timeout: time.Minute})
	if err := s.Refresh(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return s
}
