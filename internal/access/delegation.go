package access

import (
	"net/netip"
	"slices"
	"time"

	"vayu/schema"
)

// A key can delegate only permissions and limits that it has. Otherwise a key with keys:manage
// would grant everything, from every address, without expiry.

// inherited returns the requested specification, with the limits of k where the request sets none. It does not
// reduce the default scopes to those of k. If k lacks one, covers returns an error.
func (k *KeyRecord) inherited(wanted KeySpec, signatureOpen bool) KeySpec {
	if wanted.AllowList == nil {
		wanted.AllowList = k.AllowList
	}
	if wanted.ExpiresAt.IsZero() {
		wanted.ExpiresAt = k.expiresAt
	}
	if signatureOpen {
		wanted.RequireSignature = k.RequireSignature
	}
	return wanted
}

// covers returns an error if the created key can do more than k. A key that was rotated from k may outlive k,
// because it replaces k.
func (k *KeyRecord) covers(made KeyRecord) error {
	if made.RotatedFrom != nil && *made.RotatedFrom == k.ID {
		return nil
	}
	for _, scope := range made.Scopes {
		if !slices.Contains(k.Scopes, scope) {
			return schema.NewProblem(schema.InsufficientScope, "scopes", "A key can only delegate scopes that it has; this one lacks "+string(scope)+".")
		}
	}
	switch {
	case !within(made.AllowList, k.AllowList):
		return schema.NewProblem(schema.Forbidden, "allow_list", "A key with an allow-list can only delegate addresses from its own list.")
	case !k.expiresAt.IsZero() && (made.expiresAt.IsZero() || made.expiresAt.After(k.expiresAt)):
		return schema.NewProblem(schema.Forbidden, "expires_at", "A key that expires cannot create a key that outlives it; this one ends at "+
			k.expiresAt.Format(time.RFC3339)+".")
	case k.RequireSignature && !made.RequireSignature:
		return schema.NewProblem(schema.Forbidden, "require_signature", "A key that requires signatures can only create keys that require them.")
	}
	return nil
}

// mayRevoke returns an error if the other key has scopes or addresses that k lacks. Otherwise a
// limited key could remove permissions that it never had.
func (k *KeyRecord) mayRevoke(other KeyRecord) error {
	for _, scope := range other.Scopes {
		if !slices.Contains(k.Scopes, scope) {
			return schema.NewProblem(schema.InsufficientScope, "scopes",
				"A key can delete only keys whose scopes it has; this one lacks "+string(scope)+". Use a key that has it, or vayu key revoke.")
		}
	}
	if !within(other.AllowList, k.AllowList) {
		return schema.NewProblem(schema.Forbidden, "allow_list",
			"A key with an allow-list can delete only keys that are bound to addresses of that list. Use a key without one, or vayu key revoke.")
	}
	return nil
}

// mayReplaceAllowList returns an error if k has an allow-list and the account's allow-list would become wider.
// That list also restricts the account's other keys.
func (k *KeyRecord) mayReplaceAllowList(account, wanted []string) error {
	if len(k.AllowList) == 0 || within(wanted, account) {
		return nil
	}
	return schema.NewProblem(schema.Forbidden, "allow_list",
		"A key with an allow-list can only narrow the account's. Use a key without one, or vayu account set --allow.")
}

// within reports whether every network of list lies in one of limits. An empty list allows every address, so it
// lies only in empty limits.
func within(list, limits []string) bool {
	if len(limits) == 0 {
		return true
	}
	inOne := func(text string) bool {
		inner, err := netip.ParsePrefix(text)
		return err == nil && slices.ContainsFunc(limits, func(limit string) bool {
			outer, err := netip.ParsePrefix(limit)
			return err == nil && outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
		})
	}
	return len(list) > 0 && !slices.ContainsFunc(list, func(text string) bool { return !inOne(text) })
}
