package httpapi

import (
	"net/http"
	"strings"

	"vayu/schema"
)

// acceptable checks the headers that choose the version and the media type of the reply. Both headers may be absent.
// The parameter `other` lists the media types besides JSON that the endpoint offers, separated by commas.
func acceptable(r *http.Request, other string) error {
	if wanted, ok := r.Header["X-Service-Version"]; ok && (len(wanted) != 1 || wanted[0] != Version) {
		return schema.NewProblem(schema.UnknownVersion, "X-SERVICE-Version", "The version must be "+Version+".")
	}
	accept := r.Header["Accept"]
	if len(accept) == 0 {
		return nil
	}
	for one := range strings.SplitSeq(other, ",") {
		if one != "" && wants(accept, strings.TrimSpace(one)) {
			return nil
		}
	}
	if acceptsJSON(accept) {
		return nil
	}
	if other != "" {
		return schema.NewProblem(schema.NotAcceptable, "Accept", "The Accept header must allow application/json or "+strings.ReplaceAll(other, ",", " or")+".")
	}
	return schema.NewProblem(schema.NotAcceptable, "Accept", "The Accept header must allow application/json.")
}

// acceptsJSON reports whether the Accept header allows JSON. The most specific media range decides (RFC 9110, section
// 12.5.1).
func acceptsJSON(accept []string) bool {
	for _, mediaRange := range [...]string{"application/json", "application/*", "*/*"} {
		if wanted, named := weight(accept, mediaRange); named {
			return wanted
		}
	}
	return strings.TrimSpace(strings.Join(accept, "")) == ""
}

// Wants reports whether the Accept header names a media type, and not with q=0. It ignores other weights (q), and does
// not match wildcards. The media type must be one of [Route].Type.
func (c *Call) Wants(mediaType string) bool { return wants(c.Header["Accept"], mediaType) }

func wants(accept []string, mediaType string) bool {
	wanted, _ := weight(accept, mediaType)
	return wanted
}

// weight reports whether the Accept header names a media type with a weight above 0, and whether it names it at all.
func weight(accept []string, mediaType string) (wanted, named bool) {
	for _, list := range accept {
		for one := range strings.SplitSeq(list, ",") {
			name, params, _ := strings.Cut(one, ";")
			if !strings.EqualFold(strings.TrimSpace(name), mediaType) {
				continue
			}
			if !zeroWeight(params) {
				return true, true
			}
			named = true
		}
	}
	return false, named
}

// zeroWeight reports whether the parameters of a media range contain q=0, which refuses it (RFC 9110, section 12.4.2).
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
