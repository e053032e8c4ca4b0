package access

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"vayu/internal/config"
	"vayu/schema"
)

// Limits of client input: characters of names, entries of an allow-list.
const (
	longestAccountName = 64
	longestKeyName     = 100
	longestAllowList   = 100
)

// faults collects the invalid fields of one request.
type faults struct{ schema.RequestErrors }

func (f *faults) accountName(field, name string) {
	strange := strings.ContainsFunc(name, func(r rune) bool {
		plain := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !plain && !strings.ContainsRune("._-", r)
	})
	if strange || name == "" || len(name) > longestAccountName {
		f.Add(field, "The name of an account has 1 to 64 letters A–Z, a–z, digits, '.', '_' and '-'.")
	}
}

// keyText matches the start of an API key.
var keyText = regexp.MustCompile(`sk_(live|test)_[0-9A-Za-z]{20}`)

func (f *faults) keyName(field, name string) {
	strange := !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
	if strange || utf8.RuneCountInString(name) > longestKeyName {
		f.Add(field, "The name of a key has at most 100 printable characters.")
	}
	if keyText.MatchString(name) { // names are displayed, and the audit log keeps them for ever
		f.Add(field, "The name of a key must not hold a key.")
	}
}

// plan checks that a plan is configured.
func (f *faults) plan(field string, plans map[string]int64, plan string) {
	if _, ok := plans[plan]; ok {
		return
	}
	names := make([]string, 0, len(plans))
	for name := range plans {
		names = append(names, name)
	}
	slices.Sort(names)
	f.Add(field, "There is no such plan; the plans are "+strings.Join(names, ", ")+".")
}

// defaultScopes are the scopes of a key that requests none.
func defaultScopes() []schema.Scope {
	return slices.DeleteFunc(slices.Clone(schema.Scopes), func(s schema.Scope) bool { return s == schema.KeysManage })
}

// scopes returns the requested scopes without duplicates, in the order of schema.Scopes. If wanted is nil, it
// returns the default scopes.
func (f *faults) scopes(field string, wanted []schema.Scope) []schema.Scope {
	if wanted == nil {
		return defaultScopes()
	}
	if len(wanted) == 0 {
		f.Add(field, "A key has at least one scope; leave scopes out for the usual ones.")
	}
	for i, scope := range wanted {
		if !slices.Contains(schema.Scopes, scope) {
			f.Add(field+"."+strconv.Itoa(i), "There is no such scope; the scopes are "+joinScopes(schema.Scopes, ", ")+".")
		}
		if i == longestAllowList { // limits the number of faults
			break
		}
	}
	return slices.DeleteFunc(slices.Clone(schema.Scopes), func(s schema.Scope) bool { return !slices.Contains(wanted, s) })
}

func joinScopes(scopes []schema.Scope, between string) string {
	var b strings.Builder
	for i, scope := range scopes {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(string(scope))
	}
	return b.String()
}

// allowList returns the networks of a list without duplicates. They are in normal form: masked, and IPv4 not
// mapped to IPv6.
func (f *faults) allowList(field string, list []string) []netip.Prefix {
	if len(list) > longestAllowList {
		f.Add(field, "An allow-list has at most 100 entries.")
		return nil
	}
	out := make([]netip.Prefix, 0, len(list))
	for i, text := range list {
		p, err := config.Network(text)
		if err != nil {
			f.Add(field+"."+strconv.Itoa(i), "An entry is an IP address or a network such as 203.0.113.0/24.")
		} else if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// joinNetworks joins networks with blanks, for the store.
func joinNetworks(list []netip.Prefix) string { return strings.Join(networkTexts(list), " ") }

func networkTexts(list []netip.Prefix) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.String()
	}
	return out
}

// future checks that an expiry, if any, is after now.
func (f *faults) future(field string, at, now time.Time) {
	if !at.IsZero() && !at.After(now) {
		f.Add(field, "The key would be expired already.")
	}
}
