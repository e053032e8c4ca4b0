package ingest

import (
	"context"
	"time"
)

// Partition is a part of a network that needs API calls of its own, such as one sensor.
type Partition struct {
	// Key identifies the partition in its network.
	Key string
	// Fields are the values of the partition in the network's list. Only the source uses them.
	Fields map[string]string
	// Newest is the time of the partition's newest reading, or zero if the network does not state it.
	Newest time.Time
	// Window is the time range to fetch. The caller of [Partitioned.FetchPartitions] sets Window.
	Window Window
	// Failing is true if the last fetch of the partition failed. The caller of [Partitioned.FetchPartitions] sets
	// Failing.
	Failing bool
}

// Partitioned is a source that fetches each part of its network with calls of its own, such as each sensor.
type Partitioned interface {
	Source
	// Partitions lists the partitions of the network, with distinct keys.
	Partitions(ctx context.Context, w Window) ([]Partition, error)
	// FetchPartitions fetches the window of each partition, in the given order. The result of a partition is in the
	// same batch as its last readings. After a failed partition, FetchPartitions continues with the next one. If a
	// failure affects all partitions, FetchPartitions returns it as the error. The results yielded before remain valid.
	FetchPartitions(ctx context.Context, parts []Partition, yield func(*Batch) error) error
}

// PartitionResult is the result of the fetch of one partition.
type PartitionResult struct {
	Key    string
	Until  time.Time // end of the fetched window
	Failed bool
}

// Partition adds the result of a partition to the current batch, after all its readings were added or its fetch failed.
func (b *Builder) Partition(r PartitionResult) { b.batch.Partitions = append(b.batch.Partitions, r) }
