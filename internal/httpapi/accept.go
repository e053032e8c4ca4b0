package httpapi

import (
	"net/http"
	"strings"

	"vayu/internal/httpapi/mediatype"
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
		if one != "" && mediatype.Wanted(accept, strings.TrimSpace(one)) {
			return nil
		}
	}
	if mediatype.AllowsJSON(accept) {
		return nil
	}
	if other != "" {
		return schema.NewProblem(schema.NotAcceptable, "Accept", "The Accept header must allow application/json or "+strings.ReplaceAll(other, ",", " or")+".")
	}
	return schema.NewProblem(schema.NotAcceptable, "Accept", "The Accept header must allow application/json.")
}

// Wants reports whether the Accept header names a media type of [Route].Type, as [mediatype.Wanted] does.
func (c *Call) Wants(mediaType string) bool { return mediatype.Wanted(c.Header["Accept"], mediaType) }
