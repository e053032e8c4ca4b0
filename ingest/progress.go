package ingest

import "time"

// Progress describes how far a source is fetched. A [ProgressStore] keeps it across restarts.
type Progress struct {
	// Revision counts the changes of the watermark by operators. If it differs from the stored revision, a save fails
	// with [ErrRevised].
	Revision int64
	// Config is the hash of the configuration with which the source was last fetched, see [Run.ConfigSHA256].
	Config string
	// Watermark is the time up to which the readings are fetched, or zero if nothing was fetched.
	Watermark time.Time
	// Oldest is the start of the fetched range, or zero for a source without history.
	Oldest time.Time
	// Newest is the end of the averaging interval of the newest stored reading, or zero if there is none.
	Newest time.Time
	// Target is the time up to which an unfinished run of a source with partitions fetches, or zero if there is no
	// such run. The watermark becomes Target when the run is complete.
	Target time.Time
	// Restart means that [ProgressStore.Save] first deletes the stored partitions.
	Restart bool
	// Partitions has the progress of each partition that was fetched or failed, by key.
	Partitions map[string]PartitionProgress
}

// PartitionProgress describes how far a partition is fetched.
type PartitionProgress struct {
	Watermark time.Time
	Failures  int // failed fetches since the last successful one
}
