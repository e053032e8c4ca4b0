package air

import "time"

// QualityCount counts the results of one quality test for one parameter that have the same flag. First and Last are
// the ends of the first and of the last reading with such a result.
type QualityCount struct {
	Parameter string    `json:"parameter"`
	Test      string    `json:"test"`
	Version   uint16    `json:"version"`
	Flag      string    `json:"flag"`
	Count     uint64    `json:"count"`
	First     time.Time `json:"first"`
	Last      time.Time `json:"last"`
}

// QualityResult is the result of a quality test that a reading did not pass.
type QualityResult struct {
	Parameter string    `json:"parameter"`
	At        time.Time `json:"at"`
	Kind      string    `json:"kind"`
	Averaging uint16    `json:"averaging_minutes"`
	Test      string    `json:"test"`
	Version   uint16    `json:"version"`
	Flag      string    `json:"flag"`
	Detail    string    `json:"detail"`
}

// QualityReply is the reply to GET /v1/stations/{id}/quality: all counts, and one page of results, the newest first.
// NOxForm names the units in which the station reports NO, NO2 and NOx. It is nil if they are unknown.
type QualityReply struct {
	Status     string          `json:"status"`
	Station    string          `json:"station"`
	From       string          `json:"from"`
	To         string          `json:"to"`
	NOxForm    *string         `json:"nox_form"`
	Tests      []QualityCount  `json:"tests"`
	Data       []QualityResult `json:"data"`
	HasMore    bool            `json:"has_more"`
	NextCursor *string         `json:"next_cursor"`
}
