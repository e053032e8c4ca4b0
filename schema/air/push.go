package air

// OwnStation is a station that an account has registered. ID is the id of the station in tables and replies. Station is
// the name under which the account has registered the station, see [OwnStationID].
type OwnStation struct {
	ID          string  `json:"id"`
	Station     string  `json:"station"`
	Name        string  `json:"name"`
	Latitude    float64 `json:"latitude"`  // WGS 84 degrees
	Longitude   float64 `json:"longitude"` // WGS 84 degrees
	Kind        string  `json:"kind"`      // reference or sensor, as the account states it
	City        string  `json:"city"`
	State       string  `json:"state"`
	Licence     string  `json:"licence"`
	Attribution string  `json:"attribution"`
	// Published is true if every account can see the station.
	Published bool `json:"published"`
}

// OwnStationReply is the reply to the registration of a station.
type OwnStationReply struct {
	Status string     `json:"status"`
	Data   OwnStation `json:"data"`
}

// PushReply is the reply to pushed readings. The accepted readings are durable. Rejected has the first rejected
// readings. RejectedTotal is the number of all rejected readings.
type PushReply struct {
	Status        string            `json:"status"`
	Accepted      int               `json:"accepted"`
	RejectedTotal int               `json:"rejected_total"`
	Rejected      []RejectedReading `json:"rejected"`
}

// RejectedReading is a pushed reading that was not stored. Index is its position in the request, from 0. Field is the
// invalid field, or empty if the whole reading is invalid.
type RejectedReading struct {
	Index   int    `json:"index"`
	Reason  string `json:"reason"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}
