package cpcbformat

import (
	"encoding/json"
	"errors"
	"strings"

	"vayu/ingest"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// Scalar is the text of a JSON string or number. data.gov.in sends both types for the same field.
type Scalar string

// UnmarshalJSON implements [json.Unmarshaler].
func (s *Scalar) UnmarshalJSON(raw []byte) error {
	switch {
	case len(raw) > 0 && raw[0] == '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		*s = Scalar(strings.TrimSpace(text))
	case string(raw) == "null":
		*s = ""
	case len(raw) > 0 && (raw[0] == '{' || raw[0] == '['):
		return errors.New("an object or a list where a value belongs")
	default:
		*s = Scalar(raw)
	}
	return nil
}

// Record is one pollutant of one station in data.gov.in's resource 3b01bcb8. The
// value is avg_value in the resource's JSON and pollutant_avg in its download.
type Record struct {
	State        Scalar `json:"state"`
	City         Scalar `json:"city"`
	Station      Scalar `json:"station"`
	LastUpdate   Scalar `json:"last_update"`
	Latitude     Scalar `json:"latitude"`
	Longitude    Scalar `json:"longitude"`
	Pollutant    Scalar `json:"pollutant_id"`
	Average      Scalar `json:"avg_value"`
	PollutantAvg Scalar `json:"pollutant_avg"`
}

// Records adds records to a builder. It caches the number that the builder has given to each station. The zero value
// is ready for use.
type Records struct{ stations map[Scalar]int }

// Add adds the reading of a record, or counts the reason for rejecting it.
func (r *Records) Add(b *ingest.Builder, record *Record) error {
	if air.Slug(string(record.Station)) == "" {
		b.Reject(ingest.NoStation)
		return nil
	}
	station, ok := r.stations[record.Station]
	if !ok {
		lat, lon, reason := Position(string(record.Latitude), string(record.Longitude))
		if reason != ingest.None {
			b.Reject(reason)
		}
		station = b.Station(Station(string(record.Station), string(record.City), string(record.State), lat, lon))
		if r.stations == nil {
			r.stations = make(map[Scalar]int)
		}
		r.stations[record.Station] = station
	}
	average := record.Average
	if average == "" {
		average = record.PollutantAvg
	}
	p, _ := parameter.Parse(string(record.Pollutant))
	at, _ := ParseUpdate(record.LastUpdate)
	reading, reason := SubIndex(p, at, string(average))
	switch reason {
	case ingest.None:
		return b.Add(station, reading)
	case ingest.MissingValue:
		b.Missing(station, reading)
	default:
		b.RejectField(reason, string(record.Pollutant))
	}
	return nil
}
