package runner

import (
	"time"

	"vayu/ingest"
	"vayu/schema/air"
)

// Preview is a trial fetch as JSON. Times are RFC 3339 in UTC.
type Preview struct {
	Requests []ingest.Exchange      `json:"requests"`
	Readings []PreviewReading       `json:"readings"`
	Stations []PreviewStation       `json:"stations"`
	Rejected ingest.Rejections      `json:"rejected"`
	Values   []ingest.RejectedValue `json:"rejected_values"`
	Received ingest.Received        `json:"received"`
	Error    string                 `json:"error"` // empty for none
}

// PreviewReading is a reading of a [Preview].
type PreviewReading struct {
	Station   string  `json:"station"`
	Parameter string  `json:"parameter"`
	Value     float64 `json:"value"`
	Unit      string  `json:"unit"`
	At        string  `json:"at"` // end of the averaging interval
	Averaging uint16  `json:"averaging_minutes"`
	Kind      string  `json:"kind"`
	Flag      string  `json:"flag"`
}

// PreviewStation is a station of a [Preview].
type PreviewStation struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	City      string   `json:"city"`
	State     string   `json:"state"`
	Latitude  *float64 `json:"latitude"`
	Longitude *float64 `json:"longitude"`
	Kind      string   `json:"kind"`
}

// NewPreview returns the preview of a sample. failed is the error of the fetch.
func NewPreview(s Sample, recorder *ingest.Recorder, failed error) *Preview {
	p := &Preview{
		Requests: append([]ingest.Exchange{}, recorder.Exchanges()...), Readings: []PreviewReading{}, Stations: []PreviewStation{},
		Rejected: make(ingest.Rejections), Values: append([]ingest.RejectedValue{}, s.Values...), Received: recorder.Received(),
	}
	p.Rejected.Merge(s.Rejected)
	if failed != nil {
		p.Error = failed.Error()
	}
	for _, r := range s.Readings {
		p.Readings = append(p.Readings, PreviewReading{
			r.Station, r.Parameter.ID(), r.Value, UnitOf(r), r.At.UTC().Format(time.RFC3339), r.Averaging, r.Kind.String(), r.Flag.String(),
		})
	}
	for i := range s.Stations {
		one := &s.Stations[i]
		station := PreviewStation{ID: one.ID, Name: one.Name, City: one.City, State: one.State, Kind: one.Kind.String()}
		if one.Located() {
			station.Latitude, station.Longitude = &one.Latitude, &one.Longitude
		}
		p.Stations = append(p.Stations, station)
	}
	return p
}

// UnitOf returns the unit of a reading's value.
func UnitOf(r air.Reading) string {
	if r.Kind == air.SubIndex {
		return "of 500"
	}
	return r.Parameter.Unit()
}
