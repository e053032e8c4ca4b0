package push

import (
	"context"
	"fmt"
	"slices"
	"time"

	"vayu/ingest"
	"vayu/internal/httpapi"
	"vayu/schema"
	"vayu/schema/air"
)

// postReadings handles POST /v1/readings. It replies once the accepted readings are durable.
func (s *Service) postReadings(c *httpapi.Call) (httpapi.Response, error) {
	release, err := s.slots.acquire(c.Context(), c.Account)
	if err != nil {
		return httpapi.Response{}, err
	}
	defer release()
	rows, err := decode(c.BodyType, c.Body)
	if err != nil {
		return httpapi.Response{}, err
	}
	reply, err := s.store(c.Context(), s.worlds[c.World], c.Account, rows)
	if err != nil {
		return httpapi.Response{}, unavailable(err)
	}
	return httpapi.Response{Value: reply}, nil
}

// store stores the valid rows of a request and returns the reply about all rows.
func (s *Service) store(ctx context.Context, w *world, account string, rows []row) (air.PushReply, error) {
	p := pushed{now: s.now(), counts: make(map[ingest.Reason]int)}
	p.reply = air.PushReply{Status: schema.Success, Rejected: []air.RejectedReading{}}
	known, err := w.stationsOf(ctx, account, rows, p.now)
	if err != nil {
		return air.PushReply{}, err
	}
	for i := range rows {
		if wrong := p.add(&rows[i], known); wrong != nil {
			p.reject(i, wrong)
		}
	}
	if len(p.readings) > 0 {
		if err := w.committer.commit(ctx, p.now, p.readings); err != nil {
			return air.PushReply{}, err
		}
	}
	p.reply.Accepted = len(p.readings)
	s.metrics.readings.WithLabelValues(accepted).Add(float64(len(p.readings)))
	for reason, n := range p.counts {
		s.metrics.readings.WithLabelValues(string(reason)).Add(float64(n))
	}
	return p.reply, nil
}

// If a reading registers a station, the registration time is registrationLag in the past. A PUT of the station at the
// same time on another instance then has a later time, and takes precedence.
const registrationLag = time.Minute

// stationsOf returns the stations of an account by name. First it registers the unknown stations that valid rows name
// with a position.
func (w *world) stationsOf(ctx context.Context, account string, rows []row, now time.Time) (map[string]*station, error) {
	known, err := w.stations.stations(ctx, account, cacheLifetime)
	if err != nil || !lacksStation(known, rows) {
		return known, err
	}
	if known, err = w.stations.stations(ctx, account, freshLifetime); err != nil || len(newStations(account, known, rows, now)) == 0 {
		return known, err
	}
	return w.stations.register(ctx, account, now.Add(-registrationLag), func(known map[string]*station) ([]station, error) {
		return newStations(account, known, rows, now), nil
	})
}

// lacksStation reports whether a decoded row names a station that is not in the map `known`.
func lacksStation(known map[string]*station, rows []row) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return r.fault == nil && known[r.Station] == nil })
}

// newStations returns the unknown stations that valid rows of an account can register, up to the limit maxStations.
func newStations(account string, known map[string]*station, rows []row, now time.Time) []station {
	var out []station
	added := make(map[string]bool)
	for i := range rows {
		r := &rows[i]
		if known[r.Station] != nil || added[r.Station] || len(known)+len(out) >= maxStations {
			continue
		}
		if _, wrong := r.reading(now); wrong != nil {
			continue
		}
		if located, wrong := r.registers(); !located || wrong != nil {
			continue
		}
		s := newStation(account, r.Station)
		if r.Name != "" {
			s.Name = air.CleanPlace(r.Name)
		}
		s.Attribution = s.Name
		s.place(*r.Latitude, *r.Longitude)
		added[r.Station] = true
		out = append(out, s)
	}
	return out
}

// pushed collects the valid readings of one request, and builds the reply.
type pushed struct {
	now      time.Time
	readings []stationReading
	reply    air.PushReply
	counts   map[ingest.Reason]int // number of rejected readings, by reason
}

// add adds the reading of a row, or returns the reason for rejecting the row.
func (p *pushed) add(r *row, known map[string]*station) *fault {
	reading, wrong := r.reading(p.now)
	if wrong != nil {
		return wrong
	}
	s := known[r.Station]
	if s == nil {
		return noStation(r, len(known))
	}
	p.readings = append(p.readings, stationReading{s, reading})
	return nil
}

// noStation returns why a row that names an unknown station cannot register that station. `known` is the number of
// stations of the account.
func noStation(r *row, known int) *fault {
	located, wrong := r.registers()
	switch {
	case wrong != nil:
		return wrong
	case located && known >= maxStations:
		return &fault{ingest.NoStation, "station", fmt.Sprintf("The account has %d stations, which is the limit.", maxStations)}
	}
	return &fault{ingest.NoStation, "station", "The station is not registered. Send PUT /v1/stations/" + r.Station + ", or a latitude and longitude with its first reading."}
}

// reject counts a rejected row. The reply lists only the first maxRejected rejected rows.
func (p *pushed) reject(index int, f *fault) {
	p.counts[f.reason]++
	p.reply.RejectedTotal++
	if len(p.reply.Rejected) < maxRejected {
		p.reply.Rejected = append(p.reply.Rejected, air.RejectedReading{Index: index, Reason: string(f.reason), Field: f.field, Message: f.message})
	}
}
