// Package preview shows the result of a trial fetch as text or as JSON.
package preview

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"vayu/ingest"
	"vayu/ingest/runner"
	"vayu/schema/air"
)

// Preview is the result of a trial fetch in its JSON form. Times are RFC 3339 in UTC.
type Preview struct {
	Requests []ingest.Exchange `json:"requests"`
	Readings []Reading         `json:"readings"`
	Stations []Station         `json:"stations"`
	// Bulletins are the AQIs that an agency published for cities; absent for other sources.
	Bulletins []Bulletin             `json:"bulletins,omitempty"`
	Rejected  ingest.Rejections      `json:"rejected"`
	Values    []ingest.RejectedValue `json:"rejected_values"`
	Received  ingest.Received        `json:"received"`
	// Absent are the paths of the source description (YAML) at which no record has a field.
	Absent []ingest.Path `json:"absent_paths"`
	Error  string        `json:"error"` // empty for none
}

// Reading is a reading of a [Preview].
type Reading struct {
	Station   string  `json:"station"`
	Parameter string  `json:"parameter"`
	Value     float64 `json:"value"`
	Unit      string  `json:"unit"`
	At        string  `json:"at"` // end of the averaging interval
	Averaging uint16  `json:"averaging_minutes"`
	Kind      string  `json:"kind"`
	Flag      string  `json:"flag"`
}

// Station is a station in a [Preview].
type Station struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	City      string   `json:"city"`
	State     string   `json:"state"`
	Latitude  *float64 `json:"latitude"`
	Longitude *float64 `json:"longitude"`
	Kind      string   `json:"kind"`
}

// Bulletin is, in a [Preview], the AQI that an agency published for a city and a day.
type Bulletin struct {
	Day           string   `json:"day"`
	City          string   `json:"city"`
	State         string   `json:"state"`
	AQI           int      `json:"aqi"`
	Category      string   `json:"category"`
	Prominent     []string `json:"prominent"`
	StationsUsed  int      `json:"stations_used"`
	StationsTotal int      `json:"stations_total"`
}

// bulletinOf converts a bulletin to the form of a preview.
func bulletinOf(b air.Bulletin) Bulletin {
	out := Bulletin{b.Day.String(), b.City, b.State, b.AQI, b.Category, []string{}, b.StationsUsed, b.StationsTotal}
	for _, p := range b.Prominent {
		out.Prominent = append(out.Prominent, p.ID())
	}
	return out
}

// New returns the preview of a sample. `failed` is the error of the fetch, or nil.
func New(s runner.Sample, recorder *ingest.Recorder, failed error) *Preview {
	p := &Preview{
		Requests: append([]ingest.Exchange{}, recorder.Exchanges()...), Readings: []Reading{}, Stations: []Station{},
		Rejected: make(ingest.Rejections), Values: append([]ingest.RejectedValue{}, s.Values...), Received: recorder.Received(),
		Absent: append([]ingest.Path{}, recorder.Paths.Absent()...),
	}
	p.Rejected.Merge(s.Rejected)
	if failed != nil {
		p.Error = failed.Error()
	}
	for _, r := range s.Readings {
		p.Readings = append(p.Readings, Reading{
			r.Station, r.Parameter.ID(), r.Value, unitOf(r), r.At.UTC().Format(time.RFC3339), r.Averaging, r.Kind.String(), r.Flag.String(),
		})
	}
	for _, b := range s.Bulletins {
		p.Bulletins = append(p.Bulletins, bulletinOf(b))
	}
	for i := range s.Stations {
		one := &s.Stations[i]
		station := Station{ID: one.ID, Name: one.Name, City: one.City, State: one.State, Kind: one.Kind.String()}
		if one.Located() {
			station.Latitude, station.Longitude = &one.Latitude, &one.Longitude
		}
		p.Stations = append(p.Stations, station)
	}
	return p
}

// JSON writes the preview as one JSON object.
func (p *Preview) JSON(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(p); err != nil {
		return fmt.Errorf("writing the preview: %w", err)
	}
	return nil
}

// unitOf returns the unit of a reading's value.
func unitOf(r air.Reading) string {
	if r.Kind == air.SubIndex {
		return "of 500"
	}
	return r.Parameter.Unit()
}
