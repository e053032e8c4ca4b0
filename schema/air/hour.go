package air

import (
	"time"

	"vayu/schema"
)

// HourReply is one page of the reply to GET /v1/hours. Hour is the end of the hour.
type HourReply struct {
	Status     string      `json:"status"`
	Hour       time.Time   `json:"hour"`
	Scale      *RangeScale `json:"scale,omitempty"`
	Data       []HourEntry `json:"data"`
	HasMore    bool        `json:"has_more"`
	NextCursor *string     `json:"next_cursor"`
}

// HourEntry has the values of a station for one hour. AQI and Category are null if the station has no AQI for that
// hour. Concentrations are in µg/m³, CO in mg/m³; a missing one is null. Uncapped and Scale are present only if the
// request names a scale.
type HourEntry struct {
	Station  string        `json:"station"`
	AQI      *int          `json:"aqi"`
	Category *string       `json:"category"`
	PM25     schema.Figure `json:"pm25"`
	PM10     schema.Figure `json:"pm10"`
	NO2      schema.Figure `json:"no2"`
	SO2      schema.Figure `json:"so2"`
	CO       schema.Figure `json:"co"`
	O3       schema.Figure `json:"o3"`
	Updated  time.Time     `json:"updated"`
	Uncapped *int          `json:"aqi_uncapped,omitempty"`
	Scale    *Scale        `json:"scale,omitempty"`
}
