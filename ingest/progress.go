package ingest

import "time"

// Progress is how far a source is fetched. It outlives the process.
type Progress struct {
	// Revision is how often an operator has set a watermark of the source or of its partitions.
	// A save with another revision than the stored one fails with [ErrRevised].
	Revision int64
	// Config is the hash of the configuration that the source had, see [Run.ConfigSHA256].
	Config string
	// Watermark is the time up to which the readings are fetched; zero if none are.
	Watermark time.Time
	// Oldest is the time from which the history is fetched; zero for a source without history.
	Oldest time.Time
	// Newest is the end of the averaging interval of the newest stored reading; zero for none.
	Newest time.Time
	// Target is the watermark after the run in progress, of a source with partitions; zero for none.
	Target time.Time
	// Restart makes a save delete the stored partitions first.
	Restart bool
	// Partitions has the partitions that were fetched, or failed, by their keys.
	Partitions map[string]PartitionProgress
}

// PartitionProgress is how far a partition is fetched.
type PartitionProgress struct {
	Watermark time.Time
	Failures  int // failed fetches since the last successful one
}
