package air

import "time"

// SourceRun is a run of a source that received or stored something, or failed.
type SourceRun struct {
	ID        uint64            `json:"run"` // of the tables source_run, rejected and reading
	Kind      string            `json:"kind"`
	StartedAt time.Time         `json:"started_at"`
	Seconds   float64           `json:"duration_seconds"`
	Outcome   string            `json:"outcome"`
	Requests  uint32            `json:"requests"`
	Bytes     uint64            `json:"bytes"`
	Stored    uint64            `json:"stored"`
	Withdrawn uint64            `json:"withdrawn"`
	Rejected  map[string]uint64 `json:"rejected"` // values by reason
}

// SourceRuns are the sums over several runs of a source.
type SourceRuns struct {
	Runs      uint64            `json:"runs"`
	Failed    uint64            `json:"failed"`
	Stored    uint64            `json:"stored"`
	Withdrawn uint64            `json:"withdrawn"`
	Rejected  map[string]uint64 `json:"rejected"` // values by reason
}

// Source is the state of a source of readings, according to its runs of the last 30 days.
type Source struct {
	Name          string     `json:"source"`
	NewestReading *time.Time `json:"newest_reading_at"` // end of its averaging interval; nil for none
	LastSuccess   *time.Time `json:"last_success_at"`   // start of the last run without an error; nil for none
	LastRun       SourceRun  `json:"last_run"`
	LastDay       SourceRuns `json:"last_24_hours"` // runs that began in the last 24 hours
}

// SourcesReply is the reply to GET /v1/sources, sorted by name.
type SourcesReply struct {
	Status string   `json:"status"`
	Data   []Source `json:"data"`
}
