package schema

import "slices"

// ScopeSet is a set of scopes: bit i stands for Scopes[i]. The zero value is
// empty.
type ScopeSet uint16

// SetOf returns a set of these scopes. It ignores unknown ones.
func SetOf(scopes ...Scope) (set ScopeSet) {
	for _, scope := range scopes {
		if i := slices.Index(Scopes, scope); i >= 0 {
			set |= 1 << i
		}
	}
	return set
}

// Has reports whether the set contains a scope. It is false for an unknown one.
func (s ScopeSet) Has(scope Scope) bool { return s&SetOf(scope) != 0 }
