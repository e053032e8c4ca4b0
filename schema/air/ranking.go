package air

// RankingReply is one page of the reply to GET /v1/rankings. From and To are the first and the last day; they are
// absent for current values. Unit is the unit of the values, and empty for the AQI. Counted says what the coverage
// counts: hours, days or stations. Unranked is the number of cities that have values but too little coverage.
type RankingReply struct {
	Status     string         `json:"status"`
	Period     string         `json:"period"`
	From       string         `json:"from,omitempty"`
	To         string         `json:"to,omitempty"`
	Parameter  string         `json:"parameter"`
	Unit       string         `json:"unit"`
	Counted    string         `json:"counted"`
	Unranked   int            `json:"unranked"`
	Data       []RankingEntry `json:"data"`
	HasMore    bool           `json:"has_more"`
	NextCursor *string        `json:"next_cursor"`
}

// RankingEntry is a city in a ranking. City is the name of the city in air quality records. Category is null if Value
// is not an AQI.
type RankingEntry struct {
	Rank     int             `json:"rank"`
	City     string          `json:"city"`
	State    string          `json:"state"`
	Value    float64         `json:"value"`
	Category *string         `json:"category"`
	Stations int             `json:"stations"`
	Coverage RankingCoverage `json:"coverage"`
}

// RankingCoverage says how much of a period has data. Capture is Count / Expected, at most 1.
type RankingCoverage struct {
	Count    int     `json:"count"`
	Expected int     `json:"expected"`
	Capture  float64 `json:"capture"`
}
