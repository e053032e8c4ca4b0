package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"vayu/internal/httpapi"
)

// TestRoutesAcceptTheirParametersOnly includes an endpoint without parameters, and one that parses its query itself.
func TestRoutesAcceptTheirParametersOnly(t *testing.T) {
	t.Parallel()
	serveParams := func(c *httpapi.Call) (httpapi.Response, error) { return httpapi.Response{Value: c.Params}, nil }
	base := serveRoutes(t,
		httpapi.Route{Method: http.MethodGet, Path: "/v1/list", Params: []string{"from", "limit"}, Handler: serveParams},
		httpapi.Route{Method: http.MethodGet, Path: "/v1/one", Handler: serveParams},
		httpapi.Route{Method: http.MethodGet, Path: "/v1/own", OwnQuery: true, Handler: serveParams},
	)
	for path, want := range map[string]string{
		"/v1/list":                   `{}`,
		"/v1/list?from=a%20b&limit=": "The parameter limit is empty.",
		"/v1/list?from=a%20b":        `{"from":"a b"}`,
		"/v1/list?from=a&from=a":     "The parameter from occurs more than once.",
		"/v1/list?form=a":            "There is no parameter form. Did you mean from?",
		"/v1/list?from=%zz":          "The percent-encoding of the parameter from is invalid.",
		"/v1/one":                    `null`,
		"/v1/one?from=a":             "There is no parameter from.",
		"/v1/own?colour=red":         `null`,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			_, text := request(t, http.MethodGet, base, path)
			if !strings.Contains(text, want) {
				t.Errorf("got %s, want %s", text, want)
			}
		})
	}
}
