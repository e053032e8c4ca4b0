package apikey

import (
	"slices"
	"time"

	"vayu/internal/access/account"
	"vayu/schema"
)

// A key can delegate only its own scopes, within its own limits. Otherwise a key with keys:manage
// would grant everything, from every address, without expiry.

// Inherited returns a copy of the requested specification `wanted`. Limits that the request does not set are copied
// from the key k. `signatureOpen` is true if the request does not set require_signature. Scopes are not inherited. The
// caller uses [Record.Covers] to reject scopes that k lacks.
func (k *Record) Inherited(wanted Spec, signatureOpen bool) Spec {
	if wanted.AllowList == nil {
		wanted.AllowList = k.AllowList
	}
	if wanted.ExpiresAt.IsZero() {
		wanted.ExpiresAt = k.Expiry
	}
	if signatureOpen {
		wanted.RequireSignature = k.RequireSignature
	}
	return wanted
}

// Covers returns an error if the created key `made` can do more than k, or can be used longer. An exception is a key
// that replaces k in a rotation. That key has the rights of k, and may expire later than k.
func (k *Record) Covers(made Record) error {
	if made.RotatedFrom != nil && *made.RotatedFrom == k.ID {
		return nil
	}
	for _, scope := range made.Scopes {
		if !slices.Contains(k.Scopes, scope) {
			return schema.NewProblem(schema.InsufficientScope, "scopes", "A key can delegate only its own scopes. This key lacks "+string(scope)+".")
		}
	}
	switch {
	case !account.Within(made.AllowList, k.AllowList):
		return schema.NewProblem(schema.Forbidden, "allow_list", "A key with an allow-list can delegate only addresses from its own list.")
	case !k.Expiry.IsZero() && (made.Expiry.IsZero() || made.Expiry.After(k.Expiry)):
		return schema.NewProblem(schema.Forbidden, "expires_at", "A key that expires cannot create a key that expires later. This key expires at "+
			k.Expiry.Format(time.RFC3339)+".")
	case k.RequireSignature && !made.RequireSignature:
		return schema.NewProblem(schema.Forbidden, "require_signature", "A key that requires signatures can only create keys that require them.")
	}
	return nil
}

// MayRevoke returns an error if the key `other` has scopes or addresses that k lacks. Otherwise a limited key could
// revoke a key that can do more.
func (k *Record) MayRevoke(other Record) error {
	for _, scope := range other.Scopes {
		if !slices.Contains(k.Scopes, scope) {
			return schema.NewProblem(schema.InsufficientScope, "scopes",
				"A key can revoke only keys whose scopes it has. This key lacks "+string(scope)+". Use a key that has it, or vayu key revoke.")
		}
	}
	if !account.Within(other.AllowList, k.AllowList) {
		return schema.NewProblem(schema.Forbidden, "allow_list",
			"A key with an allow-list can revoke only keys that are limited to addresses of that list. Use a key without one, or vayu key revoke.")
	}
	return nil
}

// MayReplaceAllowList returns an error if k has an allow-list and the account's allow-list would become wider.
// Otherwise a key with limited addresses could allow more addresses to the account's other keys.
func (k *Record) MayReplaceAllowList(before, wanted []string) error {
	if len(k.AllowList) == 0 || account.Within(wanted, before) {
		return nil
	}
	return schema.NewProblem(schema.Forbidden, "allow_list",
		"A key with an allow-list can only narrow the account's allow-list. Use a key without one, or vayu account set --allow.")
}
