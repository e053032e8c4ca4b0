package schema

import (
	"strconv"
	"time"
)

// Success is the status of every reply that answers the question.
const Success = "success"

// Record is the air quality record of spec 2.1, its fields in the spec's order.
// Concentrations are in µg/m³, CO in mg/m³, to two decimals; null when no
// station within reach measured the pollutant. AQI is India's National AQI,
// 0–500. Updated is the end of the latest averaging interval, UTC.
type Record struct {
	Status   string    `json:"status"`
	City     string    `json:"city"`
	AQI      int       `json:"aqi"`
	Category string    `json:"category"`
	PM25     Figure    `json:"pm25"`
	PM10     Figure    `json:"pm10"`
	NO2      Figure    `json:"no2"`
	SO2      Figure    `json:"so2"`
	CO       Figure    `json:"co"`
	O3       Figure    `json:"o3"`
	Dominant string    `json:"dominant"`
	Updated  time.Time `json:"updated"`
}

// BulkError stands in a bulk reply for a city that could not be answered.
type BulkError struct {
	Status string  `json:"status"`
	City   string  `json:"city"`
	Error  Problem `json:"error"`
}

// Detail is what view=detail adds to a record. SubIndices holds 0–500 per
// pollutant identifier; Estimated lists the pollutants whose concentration was
// borrowed from a station elsewhere or derived from a published sub-index;
// Stale is true when the record is more than three hours old, and never for the
// record of a date. Pincode and DistanceKM are given for questions by pin code or
// position, Kinds when the question named other kinds than those that count anyway.
type Detail struct {
	Kinds         []string          `json:"kinds,omitempty"`
	State         string            `json:"state,omitempty"`
	Pincode       string            `json:"pincode,omitempty"`
	DistanceKM    *Figure           `json:"distance_km,omitempty"`
	SubIndices    map[string]int    `json:"sub_indices"`
	Units         map[string]string `json:"units"`
	Stations      []StationFigure   `json:"stations"`
	StationsUsed  int               `json:"stations_used"`
	StationsTotal int               `json:"stations_total"`
	Estimated     []string          `json:"estimated"`
	Averaging     map[string]string `json:"averaging"`
	Health        string            `json:"health"`
	Attribution   []string          `json:"attribution"`
	Source        []string          `json:"source"`
	Stale         bool              `json:"stale"`
}

// StationFigure is a station as part of a detailed record. DistanceKM is from
// the place that was asked for; AQI is null when the station has too few
// pollutants for an index.
type StationFigure struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	Kind       string    `json:"kind"`
	AQI        *int      `json:"aqi"`
	DistanceKM *Figure   `json:"distance_km"`
	Updated    time.Time `json:"updated"`
}

// List is one page of a list. NextCursor is null on the last page.
type List[T any] struct {
	Status     string  `json:"status"`
	Data       []T     `json:"data"`
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor"`
}

// CityEntry is a city in GET /v1/cities. Name is how the city is called in
// records. AQI and Updated are null until the city has its first index;
// coordinates (the mean of its stations, WGS 84) are null when unknown.
type CityEntry struct {
	Name      string     `json:"name"`
	City      string     `json:"city"`
	State     string     `json:"state"`
	AQI       *int       `json:"aqi"`
	Category  *string    `json:"category"`
	Updated   *time.Time `json:"updated"`
	Latitude  *float64   `json:"latitude"`
	Longitude *float64   `json:"longitude"`
	Stations  int        `json:"stations"`
}

// StationEntry is a station in GET /v1/stations and GET /v1/stations/{id}.
// Figures are those of its latest hour; DistanceKM is given when the question
// had a position.
type StationEntry struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	City        string         `json:"city"`
	State       string         `json:"state"`
	Latitude    *float64       `json:"latitude"`
	Longitude   *float64       `json:"longitude"`
	Kind        string         `json:"kind"`
	Source      string         `json:"source"`
	Attribution string         `json:"attribution"`
	Licence     string         `json:"licence"`
	FirstSeen   time.Time      `json:"first_seen"`
	LastSeen    time.Time      `json:"last_seen"`
	DistanceKM  *Figure        `json:"distance_km,omitempty"`
	AQI         *int           `json:"aqi"`
	Category    *string        `json:"category"`
	PM25        Figure         `json:"pm25"`
	PM10        Figure         `json:"pm10"`
	NO2         Figure         `json:"no2"`
	SO2         Figure         `json:"so2"`
	CO          Figure         `json:"co"`
	O3          Figure         `json:"o3"`
	Dominant    *string        `json:"dominant"`
	SubIndices  map[string]int `json:"sub_indices"`
	Updated     *time.Time     `json:"updated"`
}

// StationReply is the reply of GET /v1/stations/{id}. Hour is the end of the hour
// that the figures are of, null before the first. Readings is the latest of each
// parameter; null while the readings cannot be read.
type StationReply struct {
	Status string `json:"status"`
	StationEntry
	Hour     *time.Time      `json:"hour"`
	Readings []LatestReading `json:"readings"`
}

// LatestReading is the newest reading of a parameter at a station, as its source
// gave it. Unit is that of a concentration and empty for a sub-index; Averaging is
// the averaging interval in minutes, At its end.
type LatestReading struct {
	Parameter string    `json:"parameter"`
	Value     float64   `json:"value"`
	Unit      string    `json:"unit"`
	At        time.Time `json:"at"`
	Kind      string    `json:"kind"`
	Averaging uint16    `json:"averaging"`
}

// Append appends the record as JSON without its closing brace, so that callers
// can add fields. City must be as [AppendString] wants it.
func (r *Record) Append(b []byte) []byte {
	b = append(b, `{"status":"success","city":`...)
	b = AppendString(b, r.City)
	b = append(b, `,"aqi":`...)
	b = strconv.AppendInt(b, int64(r.AQI), 10)
	b = append(b, `,"category":"`...)
	b = append(b, r.Category...)
	b = append(b, `","pm25":`...)
	b = r.PM25.Append(b)
	b = append(b, `,"pm10":`...)
	b = r.PM10.Append(b)
	b = append(b, `,"no2":`...)
	b = r.NO2.Append(b)
	b = append(b, `,"so2":`...)
	b = r.SO2.Append(b)
	b = append(b, `,"co":`...)
	b = r.CO.Append(b)
	b = append(b, `,"o3":`...)
	b = r.O3.Append(b)
	b = append(b, `,"dominant":"`...)
	b = append(b, r.Dominant...)
	b = append(b, `","updated":"`...)
	b = r.Updated.UTC().AppendFormat(b, time.RFC3339)
	return append(b, '"')
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Control characters, quotes and
// backslashes are escaped, and < > & as well, so that a reply shown by mistake
// as a page carries no markup. Invalid UTF-8 becomes U+FFFD.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < 0x20 || r == '<' || r == '>' || r == '&' || r == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}
