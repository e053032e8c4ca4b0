// Package air defines the types of air quality data: readings, stations, pollutants, and the records in replies.
package air

import (
	"strconv"
	"time"

	"vayu/schema"
)

// Record is the air quality record of a city, pin code or position. Clients rely on the order of its fields.
// Concentrations are in µg/m³ (CO in mg/m³), with at most two decimals. An unknown concentration is null. AQI is
// India's National AQI, 0–500. Updated is the end of the averaging interval of the latest reading, in UTC.
type Record struct {
	Status   string        `json:"status"`
	City     string        `json:"city"`
	AQI      int           `json:"aqi"`
	Category string        `json:"category"`
	PM25     schema.Figure `json:"pm25"`
	PM10     schema.Figure `json:"pm10"`
	NO2      schema.Figure `json:"no2"`
	SO2      schema.Figure `json:"so2"`
	CO       schema.Figure `json:"co"`
	O3       schema.Figure `json:"o3"`
	Dominant string        `json:"dominant"`
	Updated  time.Time     `json:"updated"`
}

// BulkError is the result of a city in a bulk reply if the city has no record.
type BulkError struct {
	Status string         `json:"status"`
	City   string         `json:"city"`
	Error  schema.Problem `json:"error"`
}

// Detail has the fields that view=detail adds to a record. Kinds is present if the query names kinds of stations that
// differ from the default. Pincode is present if the query has a pin code. DistanceKM is the distance to the nearest
// used station, for a current record of a pin code or position. Stale is true for a current record older than three
// hours. NH3 and Pb are 24-hour means in µg/m³, present if measured. SubIndices has the sub-index (0–500) of each
// pollutant. Estimated lists the pollutants whose concentration was gap-filled, or derived from a published sub-index.
// CategoryName and Health are in English; a reply has them in the language of the client.
type Detail struct {
	Kinds         []string          `json:"kinds,omitempty"`
	State         string            `json:"state,omitempty"`
	Pincode       string            `json:"pincode,omitempty"`
	DistanceKM    *schema.Figure    `json:"distance_km,omitempty"`
	NH3           *schema.Figure    `json:"nh3,omitempty"`
	Pb            *schema.Figure    `json:"pb,omitempty"`
	SubIndices    map[string]int    `json:"sub_indices"`
	Units         map[string]string `json:"units"`
	Stations      []StationFigure   `json:"stations"`
	StationsUsed  int               `json:"stations_used"`
	StationsTotal int               `json:"stations_total"`
	Estimated     []string          `json:"estimated"`
	Averaging     map[string]string `json:"averaging"`
	CategoryName  string            `json:"category_name"`
	Health        string            `json:"health"`
	Attribution   []string          `json:"attribution"`
	Source        []string          `json:"source"`
	Stale         bool              `json:"stale"`
}

// StationFigure is one station in a detailed record. DistanceKM is the distance from the queried place, or from the
// centre of the city. AQI is null if the station has fewer than three sub-indices, or none of PM2.5 and PM10.
type StationFigure struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	Kind       string         `json:"kind"`
	AQI        *int           `json:"aqi"`
	DistanceKM *schema.Figure `json:"distance_km"`
	Updated    time.Time      `json:"updated"`
}

// CityEntry is a city in GET /v1/cities. Name is the city's name in records. AQI and Updated are null until the city
// has an AQI. Latitude and Longitude are the mean position of the city's stations (WGS 84), or null if it is unknown.
// FirstDay and LastDay are the first and the last day, in Indian time, with readings of these stations.
type CityEntry struct {
	Name     string     `json:"name"`
	City     string     `json:"city"`
	State    string     `json:"state"`
	AQI      *int       `json:"aqi"`
	Category *string    `json:"category"`
	Updated  *time.Time `json:"updated"`
	Freshness
	Latitude  *float64 `json:"latitude"`
	Longitude *float64 `json:"longitude"`
	Stations  int      `json:"stations"`
	FirstDay  string   `json:"first_day"`
	LastDay   string   `json:"last_day"`
	// DistanceKM is present in a list of the cities near a position.
	DistanceKM *schema.Figure `json:"distance_km,omitempty"`
}

// PlaceReply is the reply to GET /v1/places.
type PlaceReply struct {
	Status string       `json:"status"`
	Data   []PlaceEntry `json:"data"`
}

// PlaceEntry is a place in GET /v1/places. Type is city, state, station or pincode. To select the place in another
// request, send ID as the parameter that Type names, such as pincode=110001. AQI and Category are null for states and
// pin codes, and for places without an AQI.
type PlaceEntry struct {
	Type      string   `json:"type"`
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	State     string   `json:"state"`
	Latitude  *float64 `json:"latitude"`
	Longitude *float64 `json:"longitude"`
	AQI       *int     `json:"aqi"`
	Category  *string  `json:"category"`
}

// Freshness is the age of the latest values of a place. Stale is true if the values are older than three hours, or if
// the place has none. AgeHours is the age in whole hours, or null if the place has no values.
type Freshness struct {
	Stale    bool `json:"stale"`
	AgeHours *int `json:"age_hours"`
}

// StationEntry is a station in GET /v1/stations and GET /v1/stations/{id}. The AQI and the concentrations are those of
// the station's latest hour. DistanceKM is present in replies to queries with a position.
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
	DistanceKM  *schema.Figure `json:"distance_km,omitempty"`
	AQI         *int           `json:"aqi"`
	Category    *string        `json:"category"`
	PM25        schema.Figure  `json:"pm25"`
	PM10        schema.Figure  `json:"pm10"`
	NO2         schema.Figure  `json:"no2"`
	SO2         schema.Figure  `json:"so2"`
	CO          schema.Figure  `json:"co"`
	O3          schema.Figure  `json:"o3"`
	Dominant    *string        `json:"dominant"`
	SubIndices  map[string]int `json:"sub_indices"`
	Updated     *time.Time     `json:"updated"`
	Freshness
}

// StationReply is the reply to GET /v1/stations/{id}. Hour is the end of the latest hour for which the station has
// values, or null if there is none. Readings has the latest reading of each parameter, or null while readings are
// unavailable.
type StationReply struct {
	Status string `json:"status"`
	StationEntry
	Hour     *time.Time      `json:"hour"`
	Readings []LatestReading `json:"readings"`
}

// LatestReading is the newest reading of a parameter at a station, as the source published it. Unit is empty for a
// sub-index. Averaging is the length of the averaging interval in minutes, and At is its end.
type LatestReading struct {
	Parameter string    `json:"parameter"`
	Value     float64   `json:"value"`
	Unit      string    `json:"unit"`
	At        time.Time `json:"at"`
	Kind      string    `json:"kind"`
	Averaging uint16    `json:"averaging"`
}

// Append appends the record as JSON without the closing brace, so that callers can add fields. It escapes only City,
// because no other text needs escaping.
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

// AppendStation adds the field "station", with the id of a station, to the JSON object with which `b` ends.
func AppendStation(b []byte, id string) []byte {
	b = append(b[:len(b)-1], `,"station":`...)
	return append(AppendString(b, id), '}')
}

const hexDigits = "0123456789abcdef"

// AppendString appends `s` as a JSON string. It escapes control characters, quotes and backslashes. It also escapes the
// characters "<", ">" and "&", so that a reply shown as HTML contains no markup. Invalid UTF-8 becomes U+FFFD.
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
