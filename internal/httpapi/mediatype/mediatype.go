// Package mediatype reads the Accept header of HTTP (RFC 9110, section 12.5.1).
package mediatype

import "strings"

// AllowsJSON reports whether an Accept header allows JSON. The most specific media range decides. A header without a
// media range allows everything.
func AllowsJSON(accept []string) bool {
	for _, mediaRange := range [...]string{"application/json", "application/*", "*/*"} {
		if wanted, named := find(accept, mediaRange); named {
			return wanted
		}
	}
	return strings.Trim(strings.Join(accept, ""), " \t,") == ""
}

// Wanted reports whether an Accept header names a media type, and not with q=0. It ignores other weights, and does not
// match wildcards.
func Wanted(accept []string, mediaType string) bool {
	wanted, _ := find(accept, mediaType)
	return wanted
}

// find reports whether an Accept header names a media range with a weight above 0, and whether it names it at all.
func find(accept []string, mediaRange string) (wanted, named bool) {
	for _, list := range accept {
		for one := range strings.SplitSeq(list, ",") {
			name, params, _ := strings.Cut(one, ";")
			if strings.EqualFold(strings.TrimSpace(name), mediaRange) {
				wanted, named = wanted || !zeroWeight(params), true
			}
		}
	}
	return wanted, named
}

// zeroWeight reports whether the parameters of a media range contain q=0, which refuses it (section 12.4.2).
func zeroWeight(params string) bool {
	for one := range strings.SplitSeq(params, ";") {
		name, q, _ := strings.Cut(one, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q = strings.TrimSpace(q)
			return strings.HasPrefix(q, "0") && strings.Trim(q, "0.") == ""
		}
	}
	return false
}
