// Package backfill fetches past readings of a source. An operator starts a backfill with a command. Each backfill is a
// row in the state store, so after a crash the same or another instance continues it.
package backfill

import (
	"time"

	"vayu/ingest"
)

// State is the state of a backfill.
type State string

// The states of a backfill.
const (
	Running   State = "running"   // an instance works on it, or will
	Done      State = "done"      // all partitions are fetched
	Failed    State = "failed"    // partitions failed too often, or only an operator can remove the cause
	Cancelled State = "cancelled" // ended by command
)

// Job is a backfill: what to fetch, its state and its progress.
type Job struct {
	ID     string `json:"id"`
	Source string `json:"source"`
	// Window is the time range to fetch.
	Window ingest.Window `json:"window"`
	// Partitions are the keys of the partitions to fetch. An empty list means all partitions.
	Partitions []string `json:"partitions"`
	// Parallel is the number of partitions that are fetched concurrently.
	Parallel int       `json:"parallel"`
	State    State     `json:"state"`
	Error    string    `json:"error"` // the last error; "" for none
	Created  time.Time `json:"created_at"`
	Updated  time.Time `json:"updated_at"` // time of the last progress

	Progress
}

// Progress describes how much of a backfill is fetched.
type Progress struct {
	Listed   bool    `json:"listed"`              // the list of partitions is stored
	Parts    int     `json:"partitions_total"`    // 1 for a source without partitions
	Complete int     `json:"partitions_complete"` // partitions whose whole range is fetched
	Failing  int     `json:"partitions_failing"`  // partitions whose last fetch failed
	Fraction float64 `json:"fraction"`            // fetched part of the wanted range, 0 to 1
	Stored   int64   `json:"stored"`              // number of stored readings
	Requests int64   `json:"requests"`
}

// part is the progress of one partition in a backfill.
type part struct {
	key      string // "" for a source without partitions
	fields   map[string]string
	from     time.Time // the range from here to the end of the backfill is fetched
	failures int       // failed fetches since the last successful one
	busy     bool      // a worker fetches it
}

const (
	// maxFailures is the number of consecutive failed fetches after which a backfill skips a partition.
	maxFailures = 5
	// mostParallel is the largest number of partitions that a backfill fetches concurrently.
	mostParallel = 32
	// keepJobs is the retention of finished backfills in the store.
	keepJobs = 90 * 24 * time.Hour
)
