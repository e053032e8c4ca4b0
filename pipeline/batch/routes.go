package batch

import (
	"net/http"

	"vayu/internal/api"
)

// Routes are the endpoints of every kind.
func (s *Service) Routes() []api.Route {
	var all []api.Route
	for _, w := range s.workers {
		read, one := string(w.kind.Read), w.kind.Path+"/{id}"
		all = append(all,
			api.Route{Method: http.MethodPost, Path: w.kind.Path, Scope: string(w.kind.Write), Limit: api.Money, Body: api.BatchBody, Handler: w.accept},
			api.Route{Method: http.MethodGet, Path: w.kind.Path, Scope: read, Handler: w.list},
			api.Route{Method: http.MethodGet, Path: one, Scope: read, Handler: w.get},
			api.Route{Method: http.MethodGet, Path: one + "/results", Scope: read, Type: lines, Handler: w.results},
		)
	}
	return all
}
