// Package advice answers GET /v1/advice.
package advice

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"vayu/internal/httpapi"
	"vayu/schema"
	"vayu/schema/advice"
	"vayu/schema/naqi"
)

// Routes returns the endpoint of advice on health.
func Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: http.MethodGet, Path: "/v1/advice", Scope: string(schema.AQIRead), Params: []string{"category", "group", "language"}, Handler: get,
	}}
}

// cached is the Cache-Control of a reply. The texts change only with a new version of the service, and clients get a
// new text within an hour.
const cached = "private, max-age=3600"

// reply is the reply to GET /v1/advice.
type reply struct {
	Status   string          `json:"status"`
	Language advice.Language `json:"language"`
	Data     []advice.Advice `json:"data"`
	Sources  []advice.Source `json:"sources"`
}

// get answers with the advice for one category or for all, and for one group or for all. For a
// language without advice, it uses the nearest language, which the reply names.
func get(c *httpapi.Call) (httpapi.Response, error) {
	var f schema.RequestErrors
	header := map[string][]string{}
	var language advice.Language
	if text, chosen := c.Params["language"]; chosen {
		var ok bool
		if language, ok = advice.OfTag(text); !ok {
			f.Add("language", "The language must be a language tag such as ta or ta-IN.")
		}
	} else {
		language = advice.Nearest(strings.Join(c.Header.Values("Accept-Language"), ","))
		header["Vary"] = []string{"Accept-Language"}
	}
	header["Content-Language"] = []string{string(language)}
	categories := naqi.Categories()
	if text, given := c.Params["category"]; given {
		i := slices.IndexFunc(categories, func(name string) bool { return strings.EqualFold(name, text) })
		if i < 0 {
			f.Add("category", "The categories are "+strings.Join(categories, ", ")+".")
		} else {
			categories = categories[i : i+1]
		}
	}
	group, oneGroup := c.Params["group"]
	if oneGroup && !slices.Contains(advice.Groups(), group) {
		f.Add("group", "The groups are "+strings.Join(advice.Groups(), ", ")+".")
	}
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	r := reply{Status: schema.Success, Language: language, Sources: advice.Sources()}
	for _, category := range categories {
		a, _ := advice.Of(category, language)
		if oneGroup {
			a.Groups = slices.DeleteFunc(a.Groups, func(g advice.Group) bool { return g.Group != group })
		}
		r.Data = append(r.Data, a)
	}
	body, err := json.Marshal(r)
	resp := httpapi.Ready(body, time.Time{})
	resp.Header, resp.Cache = header, []string{cached}
	return resp, err
}
