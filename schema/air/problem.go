package air

// Problem is a kind of problem that a source of readings can have.
type Problem string

// The problems of sources.
const (
	ProblemFailing  Problem = "failing"  // its last runs failed
	ProblemSilent   Problem = "silent"   // it runs, but its newest reading is old
	ProblemCoverage Problem = "coverage" // far fewer readings than in the same hours of the last 7 days
	ProblemDrift    Problem = "drift"    // its records lost or got a field, or state other units
	ProblemClock    Problem = "clock"    // stations send times in the future
)

// Problems lists every kind of problem, in the documented order.
var Problems = []Problem{ProblemFailing, ProblemSilent, ProblemCoverage, ProblemDrift, ProblemClock}

// FoundProblem is a present problem of a source. Since is RFC 3339 in UTC.
type FoundProblem struct {
	Problem Problem `json:"problem"`
	Since   string  `json:"since"`
	Detail  string  `json:"detail"`
}

// SourceDegraded is the data of the event source.degraded. Times are RFC 3339 in UTC.
type SourceDegraded struct {
	Source     string         `json:"source"`
	Problems   []FoundProblem `json:"problems"`    // all present problems
	DegradedAt string         `json:"degraded_at"` // when the first of the problems was found
	Newest     *string        `json:"newest_reading_at"`
}

// SourceRecovered is the data of the event source.recovered. Times are RFC 3339 in UTC.
type SourceRecovered struct {
	Source      string    `json:"source"`
	Problems    []Problem `json:"problems"`
	DegradedAt  string    `json:"degraded_at"`
	RecoveredAt string    `json:"recovered_at"`
}
