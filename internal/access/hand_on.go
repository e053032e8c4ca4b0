package access

import (
	"net/netip"
	"slices"
	"time"

	"vayu/schema"
)

// A key that makes or replaces keys hands on no more than it has: else every key
// with keys:manage were a key to everything, from everywhere and for ever.

// inherited is what a key asks for, completed by the limits of the key itself
// where the request is silent. The usual scopes are not narrowed: who gets fewer
// than the contract says should read so in a refusal.
func (k *KeyRecord) inherited(asked KeySpec, signatureOpen bool) KeySpec {
	if asked.AllowList == nil {
		asked.AllowList = k.AllowList
	}
	if asked.ExpiresAt.IsZero() {
		asked.ExpiresAt = k.expiresAt
	}
	if signatureOpen {
		asked.RequireSignature = k.RequireSignature
	}
	return asked
}

// covers demands that a key that was made can do no more than k. What took over
// from k itself may outlive it: k ends because it was replaced.
func (k *KeyRecord) covers(made KeyRecord) error {
	if made.RotatedFrom != nil && *made.RotatedFrom == k.ID {
		return nil
	}
	for _, scope := range made.Scopes {
		if !slices.Contains(k.Scopes, scope) {
			return schema.Refuse(schema.InsufficientScope, "scopes", "A key can hand on only scopes that it has; this one lacks "+string(scope)+".")
		}
	}
	switch {
	case !within(made.AllowList, k.AllowList):
		return schema.Refuse(schema.Forbidden, "allow_list", "A key with an allow-list can hand on only addresses that it may be used from itself.")
	case !k.expiresAt.IsZero() && (made.expiresAt.IsZero() || made.expiresAt.After(k.expiresAt)):
		return schema.Refuse(schema.Forbidden, "expires_at", "A key that expires can make no key that outlives it; this one ends at "+
			k.expiresAt.Format(time.RFC3339)+".")
	case k.RequireSignature && !made.RequireSignature:
		return schema.Refuse(schema.Forbidden, "require_signature", "A key that needs signatures can make only keys that need them.")
	}
	return nil
}

// ends demands that a key which k is to revoke has no scopes and addresses that k
// lacks. Otherwise a limited key could take rights away that it never had.
func (k *KeyRecord) ends(other KeyRecord) error {
	for _, scope := range other.Scopes {
		if !slices.Contains(k.Scopes, scope) {
			return schema.Refuse(schema.InsufficientScope, "scopes",
				"A key can delete only keys whose scopes it has; this one lacks "+string(scope)+". Use a key that has it, or vayu key revoke.")
		}
	}
	if !within(other.AllowList, k.AllowList) {
		return schema.Refuse(schema.Forbidden, "allow_list",
			"A key with an allow-list can delete only keys that are bound to addresses of that list. Use a key without one, or vayu key revoke.")
	}
	return nil
}

// narrows demands that a key with an allow-list does not widen the account's, which
// other keys are bound by.
func (k *KeyRecord) narrows(account, wanted []string) error {
	if len(k.AllowList) == 0 || within(wanted, account) {
		return nil
	}
	return schema.Refuse(schema.Forbidden, "allow_list",
		"A key with an allow-list can only narrow the account's. Use a key without one, or vayu account set --allow.")
}

// within reports whether an allow-list lets nobody in whom another keeps out;
// both are as the store has them. A network must lie in one of the other's.
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
