package air

import "time"

// SourceRun is a recorded run of a source. A run with no request, error, value or rejection is not recorded.
type SourceRun struct {
	ID        uint64            `json:"run"` // id of the run in the tables source_run, rejected and reading
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

// SourceRuns has the sums over several runs of a source.
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
	// State is good, degraded or unknown. It is unknown if the problems cannot be read.
	State    string        `json:"state"`
	Problems []OpenProblem `json:"problems"`
	// Progress is the progress of the source, or nil if it is unknown.
	Progress *SourceProgress `json:"progress"`
	LastRun  SourceRun       `json:"last_run"`
	LastDay  SourceRuns      `json:"last_24_hours"` // runs that began in the last 24 hours
	Coverage Coverage        `json:"coverage"`
}

// States of sources, and limits of replies about sources.
const (
	SourceGood     = "good"
	SourceBad      = "degraded"
	SourceUnknown  = "unknown"
	CoverageHours  = 7 * 24 // number of hours in a [Coverage]
	SourceRunLimit = 20     // number of runs in a [SourceDetail]
	RejectedLimit  = 100    // number of rejected values in a [SourceDetail]
)

// OpenProblem is a present problem of a source, without its detail.
type OpenProblem struct {
	Problem Problem   `json:"problem"`
	Since   time.Time `json:"since"`
}

// Coverage has the number of readings of a source in each hour of the last 7 days.
type Coverage struct {
	From  time.Time `json:"from"`  // end of the first hour; hours are those of an Indian clock
	Hours []uint32  `json:"hours"` // by hour: the largest number of its readings that one run stored; 0 for none
}

// RunDetail is a run with its error, for operators.
type RunDetail struct {
	SourceRun

	Error string `json:"error"` // "" for none
}

// Rejected is a rejected value with its record, for operators.
type Rejected struct {
	Run       uint64    `json:"run"`
	StartedAt time.Time `json:"started_at"` // start of the run
	Reason    string    `json:"reason"`
	Field     string    `json:"field"`   // "" if the whole record was rejected
	Station   string    `json:"station"` // "" if it was not known yet
	Line      uint64    `json:"line"`
	Raw       string    `json:"raw"`
}

// SourceDetail has the details of a source for operators.
type SourceDetail struct {
	Name     string         `json:"source"`
	Problems []FoundProblem `json:"problems"`
	Runs     []RunDetail    `json:"runs"`     // the newest first
	Rejected []Rejected     `json:"rejected"` // the newest first
}

// SourceReply is the reply to GET /v1/sources/{source}.
type SourceReply struct {
	Status string       `json:"status"`
	Data   SourceDetail `json:"data"`
}

// SourceProgress describes how far the readings of a source are fetched.
type SourceProgress struct {
	Watermark  *time.Time `json:"watermark_at"`       // readings up to this time are fetched; nil if no run has ended
	Partitions uint64     `json:"partitions"`         // 0 for a source without partitions
	Failing    uint64     `json:"partitions_failing"` // partitions whose last fetch failed
	// Oldest are the partitions with the oldest watermarks, the oldest first, at most [MaxOldest].
	Oldest   []PartitionProgress `json:"oldest_partitions"`
	Backfill *SourceBackfill     `json:"backfill"` // the last backfill that a command started; nil for none in 90 days
}

// MaxOldest is the largest number of partitions in the field Oldest of [SourceProgress].
const MaxOldest = 20

// PartitionProgress describes how far a partition of a source, such as a sensor, is fetched.
type PartitionProgress struct {
	Partition string    `json:"partition"` // key of the partition: the fields that its requests use
	Watermark time.Time `json:"watermark_at"`
	Failures  uint64    `json:"failures"` // failed fetches since the last successful one
}

// SourceBackfill is the state of a backfill that an operator started by command.
type SourceBackfill struct {
	State      string    `json:"state"` // running, done, failed or cancelled
	From       time.Time `json:"from"`
	To         time.Time `json:"to"`
	Fraction   float64   `json:"fraction"`   // fetched part of the range, 0 to 1
	Partitions int       `json:"partitions"` // 1 for a source without partitions; 0 until they are listed
	Complete   int       `json:"partitions_complete"`
	Failing    int       `json:"partitions_failing"`
	Stored     int64     `json:"stored"` // number of stored readings
	Requests   int64     `json:"requests"`
	StartedAt  time.Time `json:"started_at"`
	AdvancedAt time.Time `json:"advanced_at"` // time of the last progress
}

// SourcesReply is the reply to GET /v1/sources, sorted by name.
type SourcesReply struct {
	Status string   `json:"status"`
	Data   []Source `json:"data"`
}
