package account

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"vayu/internal/config"
	"vayu/schema"
)

// longestAllowList is the largest number of entries of an allow-list. Each call is compared with all entries.
const longestAllowList = 100

// ParseAllowList returns the distinct networks of a list in the form of [config.Network]. It adds faults to f.
func ParseAllowList(f *schema.RequestErrors, field string, list []string) []netip.Prefix {
	if len(list) > longestAllowList {
		f.Add(field, "An allow-list can have at most 100 entries.")
		return nil
	}
	out := make([]netip.Prefix, 0, len(list))
	for i, text := range list {
		p, err := config.Network(text)
		if err != nil {
			f.Add(field+"."+strconv.Itoa(i), "An entry must be an IP address or a network such as 203.0.113.0/24.")
		} else if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// JoinNetworks joins networks with blanks, for the store.
func JoinNetworks(list []netip.Prefix) string { return strings.Join(NetworkTexts(list), " ") }

// NetworkTexts returns networks in their usual form, such as 203.0.113.0/24.
func NetworkTexts(list []netip.Prefix) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.String()
	}
	return out
}

// Within reports whether every network of `list` lies in a network of `limits`. An empty allow-list allows every
// address: an empty `limits` contains every list, and an empty `list` lies only in an empty `limits`.
func Within(list, limits []string) bool {
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
