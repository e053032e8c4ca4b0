package push

import (
	"cmp"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/geo"
)

// stationRequest is the body of PUT /v1/stations/{id}.
type stationRequest struct {
	Name        string   `json:"name"`
	Latitude    *float64 `json:"latitude"`
	Longitude   *float64 `json:"longitude"`
	Kind        string   `json:"kind"`
	Licence     string   `json:"licence"`
	Attribution string   `json:"attribution"`
	Published   *bool    `json:"published"`
}

// station returns the station that the body describes. The error lists everything that is invalid in the name and the
// body.
func (w *stationRequest) station(account, name string) (station, error) {
	var f schema.RequestErrors
	s := newStation(account, name)
	if !stationName.MatchString(name) {
		f.Add("id", stationNameRule)
	}
	if w.Name == "" {
		f.Add("name", "The name is missing.")
	}
	for _, text := range [...]struct{ field, value string }{{"name", w.Name}, {"licence", w.Licence}, {"attribution", w.Attribution}} {
		if !checkText(text.value) {
			f.Add(text.field, "The "+text.field+" must have at most 100 characters and no control characters.")
		}
	}
	switch {
	case w.Latitude == nil:
		f.Add("latitude", "The latitude is missing.")
	case w.Longitude == nil:
		f.Add("longitude", "The longitude is missing.")
	default:
		if message := checkPosition(*w.Latitude, *w.Longitude); message != "" {
			f.Add("latitude", message)
		} else {
			s.place(*w.Latitude, *w.Longitude)
		}
	}
	if kind, ok := air.ParseStationKind(w.Kind); !ok || kind == air.CityMean {
		f.Add("kind", "The kind must be sensor or reference.")
	}
	s.Name, s.Kind, s.Licence = air.CleanPlace(w.Name), w.Kind, air.CleanPlace(w.Licence)
	s.Attribution = air.CleanPlace(w.Attribution)
	s.Published = w.Published != nil && *w.Published
	return s, f.Problem()
}

// movedKilometres is the largest accepted move of a published station, in kilometres. After a larger move, the
// position would be refused when the station is stored (see ingest/station).
const movedKilometres = 5

// replaces checks whether s can replace `old`, the registered station or nil. `requested` is the request's field
// `published`. If `old` is published, s becomes published, and takes over its licence and attribution if s has none.
func (s *station) replaces(old *station, requested *bool) error {
	if old != nil && old.Published {
		switch {
		case requested != nil && !*requested:
			return schema.NewProblem(schema.Conflict, "published", "A published station must stay published, because others may use its data.")
		case geo.Distance(s.point(), old.point()) > movedKilometres:
			return schema.NewProblem(schema.Conflict, "latitude", "A published station can move by at most 5 km. Register another one.")
		}
		s.Published, s.Licence, s.Attribution = true, cmp.Or(s.Licence, old.Licence), cmp.Or(s.Attribution, old.Attribution)
	}
	if s.Published && s.Licence == "" {
		return schema.NewProblem(schema.InvalidRequest, "licence", "A published station requires a licence, such as CC-BY-4.0.")
	}
	s.Attribution = cmp.Or(s.Attribution, s.Name)
	return nil
}

// putStation handles PUT /v1/stations/{id}. It stores the station before the audit row. If the audit row cannot be
// stored, the request fails, and the client can repeat it.
func (s *Service) putStation(c *httpapi.Call) (httpapi.Response, error) {
	wanted, err := httpapi.Decode[stationRequest](c)
	if err != nil {
		return httpapi.Response{}, err
	}
	described, err := wanted.station(c.Account, mux.Vars(c.Request)["id"])
	if err != nil {
		return httpapi.Response{}, err
	}
	_, err = s.worlds[c.World].stations.register(c.Context(), c.Account, time.Time{}, func(known map[string]*station) ([]station, error) {
		if err := described.replaces(known[described.Station], wanted.Published); err != nil {
			return nil, err
		}
		return []station{described}, nil
	})
	if err != nil {
		return httpapi.Response{}, unavailable(err)
	}
	reply := httpapi.Response{Value: air.OwnStationReply{Status: schema.Success, Data: described.OwnStation}}
	return s.change(func(*httpapi.Call, *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		return reply, audit.Entry{Action: "station.register", Subject: described.ID, Detail: map[string]any{"published": described.Published}}, nil
	})(c)
}
