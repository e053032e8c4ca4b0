package query

import (
	"vayu/internal/httpapi"
	"vayu/query/chart"
	"vayu/query/param"
	"vayu/query/station"
	"vayu/query/tiles"
	"vayu/schema"
)

// chart returns the handler of charts in the format f.
func (s *Service) chart(f chart.Format) httpapi.Handler {
	return func(c *httpapi.Call) (resp httpapi.Response, err error) {
		if err := param.Texts(c.Params); err != nil {
			return resp, err
		}
		r, err := chart.Parse(c.Params, schema.DayOf(s.now()))
		if err != nil {
			return resp, err
		}
		w, snap, err := s.snapshotOf(c)
		if err != nil {
			return resp, err
		}
		data := &chart.Data{Snapshot: snap, History: w.history, Tables: w.tables, Slots: &s.historySlots, Account: c.Account}
		data.Station = func(id string) (*station.WithFigures, error) { return w.stationByID(c, snap, id) }
		if resp, err = data.Answer(c.Context(), &r, f); err == nil {
			resp.Cache = s.cacheControl.At(s.now())
		}
		return resp, err
	}
}

// tile returns the handler of map tiles. The function `parse` parses the request for a tile.
func (s *Service) tile(parse func(*httpapi.Call) (tiles.Request, error)) httpapi.Handler {
	return func(c *httpapi.Call) (resp httpapi.Response, err error) {
		r, err := parse(c)
		if err != nil {
			return resp, err
		}
		w, snap, err := s.snapshotOf(c)
		if err != nil {
			return resp, err
		}
		now := s.now()
		resp, err = w.tiles.Answer(c, r, snap, &s.historySlots, now)
		resp.Cache = s.cacheControl.At(now)
		return resp, err
	}
}
