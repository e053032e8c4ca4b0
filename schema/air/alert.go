package air

import (
	"encoding/json"

	"vayu/schema"
)

// AlertPlace is the place of an alert: a city, a pin code, a position or a station. A request has exactly one of these.
// In replies, Name is the name of the place in air quality records. Positions are WGS 84 degrees.
type AlertPlace struct {
	City      string   `json:"city,omitempty"`
	State     string   `json:"state,omitempty"` // state of the city, in replies
	Pincode   string   `json:"pincode,omitempty"`
	Latitude  *float64 `json:"lat,omitempty"`
	Longitude *float64 `json:"lon,omitempty"`
	Station   string   `json:"station,omitempty"`
	Name      string   `json:"name,omitempty"`
}

// AlertCondition is the condition of an alert. It has a metric, and exactly one of Over, Under and Change. Over and
// Under are numbers. For the metric "category" they are names of categories.
type AlertCondition struct {
	Metric string          `json:"metric"`
	Over   json.RawMessage `json:"over,omitempty"`
	Under  json.RawMessage `json:"under,omitempty"`
	Change string          `json:"change,omitempty"` // any, worse or better
	// Only the metric "forecast" uses Category and Day. The value of this metric is the probability of Category or a
	// worse category on that day. Day 1 is tomorrow, and the largest Day is 3.
	Category string `json:"category,omitempty"`
	Day      int    `json:"day,omitempty"`
}

// AlertQuietHours is a daily period without events, in Indian time. It includes From and excludes To. It may span
// midnight.
type AlertQuietHours struct {
	From string `json:"from"` // 22:00
	To   string `json:"to"`
}

// Alert is an alert in replies. Times are RFC 3339 in UTC, in whole seconds.
type Alert struct {
	ID              string           `json:"id"` // alt_ + ULID
	Name            string           `json:"name"`
	Place           AlertPlace       `json:"place"`
	Condition       AlertCondition   `json:"condition"`
	Hysteresis      float64          `json:"hysteresis"`       // in the unit of the metric
	MinimumInterval int64            `json:"minimum_interval"` // seconds
	QuietHours      *AlertQuietHours `json:"quiet_hours"`
	Language        string           `json:"language"` // language of the advice, such as hi
	Active          bool             `json:"active"`   // false: paused
	Mode            string           `json:"mode"`     // live or sandbox
	State           string           `json:"state"`    // ok or triggered
	ChangedAt       *string          `json:"changed_at"`
	TriggeredAt     *string          `json:"triggered_at"`
	CreatedAt       string           `json:"created_at"`
	UpdatedAt       string           `json:"updated_at"`
}

// AlertReply is a reply about one alert.
type AlertReply struct {
	Status string `json:"status"`
	Alert
}

// AlertDeleted is the reply to DELETE /v1/alerts/{id}.
type AlertDeleted struct {
	Status  string `json:"status"`
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
}

// AlertTested is the reply to POST /v1/alerts/{id}/test. Webhooks is the number of active webhooks that get the event.
type AlertTested struct {
	Status   string `json:"status"`
	EventID  string `json:"event_id"`
	Webhooks int    `json:"webhooks"`
}

// AlertReason is the reason for which the state of an alert changed.
type AlertReason string

// The values of AlertReason.
const (
	AlertCrossed   AlertReason = "crossed"   // the values meet the condition
	AlertRecovered AlertReason = "recovered" // the values no longer meet the condition
	AlertCorrected AlertReason = "corrected" // the values that met the condition were corrected, and no longer meet it
	AlertEdited    AlertReason = "edited"    // the account changed the place or the condition
	AlertPaused    AlertReason = "paused"    // the account paused the alert
	AlertRemoved   AlertReason = "deleted"   // the account deleted the alert
	AlertTest      AlertReason = "test"      // the account requested a test
)

// AlertData is the data of the events air.alert.triggered, .resolved and .test.
type AlertData struct {
	AlertID   string         `json:"alert_id"`
	Name      string         `json:"name"`
	State     string         `json:"state"`
	Reason    AlertReason    `json:"reason"`
	Place     AlertPlace     `json:"place"`
	Condition AlertCondition `json:"condition"`
	// Value is the value of the metric: a number, or the name of a category. It is null if the value is unknown.
	Value any `json:"value"`
	// If the condition is a change of the category or band, Previous is the earlier category or band. Otherwise it is
	// absent.
	Previous any           `json:"previous,omitempty"`
	AQI      *int          `json:"aqi"`
	Category *string       `json:"category"`
	Dominant *string       `json:"dominant"`
	PM25     schema.Figure `json:"pm25"`
	PM10     schema.Figure `json:"pm10"`
	Hour     *string       `json:"hour"`    // end of the hour to which the values belong
	Updated  *string       `json:"updated"` // end of the averaging interval of the last reading in that hour
	Stale    bool          `json:"stale"`   // the values are older than three hours
	At       string        `json:"at"`
	Language string        `json:"language"`
	Message  string        `json:"message"`
	Advice   *AlertAdvice  `json:"advice"`
	Test     bool          `json:"test,omitempty"`
}

// Subject returns the id of the alert that the event is about.
func (d AlertData) Subject() string { return d.AlertID }

// AlertAdvice is the advice on health for the category of the AQI, in the language of the alert.
type AlertAdvice struct {
	Statement string             `json:"statement"`
	General   string             `json:"general"`
	Groups    []AlertGroupAdvice `json:"groups"`
}

// AlertGroupAdvice is the advice for a group of people.
type AlertGroupAdvice struct {
	Group string `json:"group"`
	Text  string `json:"text"`
}

// AlertChange is a change of state in GET /v1/alerts/{id}/history, with the data of its event.
type AlertChange struct {
	EventID string          `json:"event_id"`
	At      string          `json:"at"`
	Data    json.RawMessage `json:"data"`
}
