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
	for _, list := range accept {
		if strings.Contains(list, "*/*") || strings.Contains(list, "application/json") ||
			strings.Contains(list, "application/*") || strings.TrimSpace(list) == "" {
			return nil
		}
	}
	if other != "" {
		return schema.NewProblem(schema.NotAcceptable, "Accept", "The Accept header must allow application/json or "+strings.ReplaceAll(other, ",", " or")+".")
	}
	return schema.NewProblem(schema.NotAcceptable, "Accept", "The Accept header must allow application/json.")
}

// Wants reports whether the Accept header names a media type, and not with q=0. It ignores other weights (q), and does
// not match wildcards. The media type must be one of [Route].Type.
func (c *Call) Wants(mediaType string) bool { return wants(c.Header["Accept"], mediaType) }

func wants(accept []string, mediaType string) bool {
	for _, list := range accept {
		for one := range strings.SplitSeq(list, ",") {
			name, params, _ := strings.Cut(one, ";")
			if strings.EqualFold(strings.TrimSpace(name), mediaType) && strings.ReplaceAll(params, " ", "") != "q=0" {
				return true
			}
		}
	}
	return false
}
