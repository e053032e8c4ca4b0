package apikey

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"vayu/schema"
)

const (
	// longestName is the largest number of characters of a name.
	longestName = 100
	// maxScopeFaults is the index of the last scope that checkScopes checks. It limits the number of faults in a reply.
	maxScopeFaults = 100
)

// Pattern matches the start of an API key.
var Pattern = regexp.MustCompile(`sk_(live|test)_[0-9A-Za-z]{20}`)

func checkName(f *schema.RequestErrors, field, name string) {
	strange := !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
	if strange || utf8.RuneCountInString(name) > longestName {
		f.Add(field, "The name of a key must have at most 100 printable characters.")
	}
	if Pattern.MatchString(name) { // names are displayed, and the audit log keeps them for ever
		f.Add(field, "The name of a key must not contain an API key.")
	}
}

// checkScopes returns the requested scopes without duplicates, in the order of schema.Scopes. If `wanted` is nil, it
// returns the default scopes. It adds unknown scopes to f as faults.
func checkScopes(f *schema.RequestErrors, field string, wanted []schema.Scope) []schema.Scope {
	if wanted == nil {
		return schema.DefaultScopes()
	}
	if len(wanted) == 0 {
		f.Add(field, "A key must have at least one scope. Omit scopes for the default scopes.")
	}
	for i, scope := range wanted {
		if !slices.Contains(schema.Scopes, scope) {
			f.Add(field+"."+strconv.Itoa(i), "Unknown scope. The scopes are "+schema.Join(schema.Scopes, ", ")+".")
		}
		if i == maxScopeFaults { // limits the number of faults
			break
		}
	}
	return slices.DeleteFunc(slices.Clone(schema.Scopes), func(s schema.Scope) bool { return !slices.Contains(wanted, s) })
}

// CheckExpiry checks that an expiry, if any, is after now.
func CheckExpiry(f *schema.RequestErrors, field string, at, now time.Time) {
	if !at.IsZero() && !at.After(now) {
		f.Add(field, "The expiry must be in the future.")
	}
}
