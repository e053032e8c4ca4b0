package chart

import (
	"context"
	"errors"
	"sync"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/history"
	"vayu/query/snapshot"
	"vayu/query/station"
	"vayu/schema"
)

// Data provides the figures (concentrations and indices) for charts.
type Data struct {
	Snapshot *snapshot.Snapshot
	History  *history.History
	Tables   aggregate.Tables // hourly means
	Slots    *history.Slots   // limit of concurrent queries per account
	Account  string
	Station  func(id string) (*station.WithFigures, error) // the station with an id, if the account may see it
}

// read returns the chart that a request selects, with all its figures.
func (d *Data) read(ctx context.Context, r *Request) (*Chart, error) {
	var at place
	q := history.Query{City: -1, Span: history.Span{First: r.From, Last: r.To}, Interval: history.Days, Account: d.Account}
	if r.Hourly() {
		q.Interval = history.Hours
	}
	read := func() (figures []history.Dated, err error) {
		_, figures, err = d.History.Figures(ctx, d.Snapshot, &q)
		return figures, err
	}
	if r.Station != "" {
		st, err := d.Station(r.Station)
		if problem, ok := errors.AsType[*schema.Problem](err); ok && problem.Code == schema.NotFound {
			return nil, schema.NewProblem(schema.NotFound, "station", "There is no such station. GET /v1/stations lists them.")
		}
		if err != nil {
			return nil, err
		}
		at.Label = st.Name
		at.add(&st.Station)
		read = func() ([]history.Dated, error) {
			return d.History.StationFigures(ctx, st.ID, d.Account, q.Span, r.Hourly())
		}
	} else {
		var err error
		if q.City, err = d.Snapshot.Index.Find(r.City); err != nil {
			return nil, err
		}
		at.Label = d.Snapshot.Index.Label(q.City)
		for _, sample := range d.Snapshot.OfCity(&d.Snapshot.Cities[q.City], d.Snapshot.Kinds) {
			at.add(&d.Snapshot.Stations[sample.Station].Station)
		}
	}
	if r.Kind == "line" || r.Kind == "calendar" {
		figures, err := read()
		if err != nil {
			return nil, err
		}
		return ofFigures(r, &at, figures)
	}
	release, err := d.Slots.Acquire(ctx, d.Account)
	if err != nil {
		return nil, err
	}
	defer release()
	return ofMeans(ctx, d.Tables, r, &at)
}

// Format is a format of charts: SVG or PNG.
type Format struct {
	contentType string
	draw        func(c *Chart) ([]byte, error)
}

// Formats returns the formats SVG and PNG. They share the fonts, which are loaded for the first chart.
func Formats() (svg, png Format) {
	fonts := sync.OnceValue(loadFonts)
	return Format{"image/svg+xml", func(c *Chart) ([]byte, error) { return c.svg(fonts()) }},
		Format{"image/png", func(c *Chart) ([]byte, error) { return c.png(fonts()) }}
}

// Answer returns the chart that a request selects, with an ETag. It draws the chart in one of the account's slots
// for concurrent work, because a PNG takes some tenths of a second. The error is a *schema.Problem if the place
// does not exist or has no figures in the range.
func (d *Data) Answer(ctx context.Context, r *Request, f Format) (resp httpapi.Response, err error) {
	c, err := d.read(ctx, r)
	if err != nil {
		return resp, err
	}
	release, err := d.Slots.Acquire(ctx, d.Account)
	if err != nil {
		return resp, err
	}
	defer release()
	body, err := f.draw(c)
	return httpapi.Response{Body: body, ETag: []string{httpapi.ETag(body)}, Type: []string{f.contentType}}, err
}
