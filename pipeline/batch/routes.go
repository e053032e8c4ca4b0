package batch

import (
	"net/http"

	"vayu/internal/httpapi"
)

// Routes returns the endpoints of every kind.
func (s *Service) Routes() []httpapi.Route {
	var all []httpapi.Route
	for _, w := range s.workers {
		read, one := string(w.kind.Read), w.kind.Path+"/{id}"
		all = append(all,
			httpapi.Route{Method: http.MethodPost, Path: w.kind.Path, Scope: string(w.kind.Write), Limit: httpapi.Money, Body: httpapi.BatchBody, Handler: w.accept},
			httpapi.Route{Method: http.MethodGet, Path: w.kind.Path, Scope: read, Params: []string{"state", "ref_id", "from", "to", "limit", "cursor"}, Handler: w.list},
			httpapi.Route{Method: http.MethodGet, Path: one, Scope: read, Handler: w.get},
			httpapi.Route{Method: http.MethodGet, Path: one + "/results", Scope: read, Type: lines, Params: []string{"limit", "cursor"}, Handler: w.results},
		)
	}
	return all
}
