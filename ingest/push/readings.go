package push

import (
	"context"
	"time"

	"vayu/ingest"
	"vayu/internal/httpapi"
	"vayu/schema"
	"vayu/schema/air"
)

// postReadings handles POST /v1/readings. It replies once the accepted readings are
// durable.
func (s *Service) postReadings(c *httpapi.Call) (httpapi.Response, error) {
	if _, err := httpapi.Parameters(c.URL.RawQuery); err != nil {
		return httpapi.Response{}, err
	}
	release, err := s.slots.acquire(c.Context(), c.Account)
	if err != nil {
		return httpapi.Response{}, err
	}
	defer release()
	rows, err := decode(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	reply, err := s.store(c.Context(), s.worlds[c.World], c.Account, rows)
	if err != nil {
		return httpapi.Response{}, unavailable(err)
	}
	return httpapi.Response{Value: reply}, nil
}

// store stores the valid rows of a request and returns the reply about all of them.
func (s *Service) store(ctx context.Context, w *world, account string, rows []row) (air.PushReply, error) {
	known, err := w.stations.stations(ctx, account)
	if err != nil {
		return air.PushReply{}, err
	}
	p := pushed{account: account, known: known, added: make(map[string]*station), now: s.now(), counts: make(map[ingest.Reason]int)}
	p.reply = air.PushReply{Status: schema.Success, Rejected: []air.RejectedReading{}}
	for i := range rows {
		if wrong := p.add(&rows[i]); wrong != nil {
			p.reject(i, wrong)
		}
	}
	if err := w.stations.register(ctx, account, p.newStations()); err != nil {
		return air.PushReply{}, err
	}
	if len(p.readings) > 0 {
		if err := w.committer.commit(ctx, p.readings); err != nil {
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

// pushed collects the valid readings of one request, the stations that they register, and
// the reply.
type pushed struct {
	account  string
	known    map[string]*station
	added    map[string]*station
	now      time.Time
	readings []stationReading
	reply    air.PushReply
	counts   map[ingest.Reason]int // rejected
}

// add adds a row, or returns why it is rejected.
func (p *pushed) add(r *row) *fault {
	reading, wrong := r.reading(p.now)
	if wrong != nil {
		return wrong
	}
	s := p.known[r.Station]
	if s == nil {
		s = p.added[r.Station]
	}
	if s == nil {
		if s, wrong = p.newStation(r); wrong != nil {
			return wrong
		}
	}
	p.readings = append(p.readings, stationReading{s, reading})
	return nil
}

// newStation registers the station of a row with a position.
func (p *pushed) newStation(r *row) (*station, *fault) {
	located, wrong := r.registers()
	if wrong != nil {
		return nil, wrong
	}
	if !located {
		return nil, &fault{ingest.NoStation, "station", "The station is not registered. Send PUT /v1/stations/" + r.Station + ", or a latitude and longitude with its first reading."}
	}
	s := newStation(p.account, r.Station)
	if r.Name != "" {
		s.Name = air.CleanPlace(r.Name)
	}
	s.place(*r.Latitude, *r.Longitude)
	p.added[r.Station] = &s
	return &s, nil
}

func (p *pushed) newStations() []station {
	out := make([]station, 0, len(p.added))
	for _, s := range p.added {
		out = append(out, *s)
	}
	return out
}

// reject adds a rejected row to the reply.
func (p *pushed) reject(index int, f *fault) {
	p.counts[f.reason]++
	p.reply.RejectedTotal++
	if len(p.reply.Rejected) < maxRejected {
		p.reply.Rejected = append(p.reply.Rejected, air.RejectedReading{Index: index, Reason: string(f.reason), Field: f.field, Message: f.message})
	}
}
