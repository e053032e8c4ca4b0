package ingest

import (
	"context"
	"time"
)

// Partition is a part of a network that is fetched by itself, such as one sensor.
type Partition struct {
	// Key identifies the partition in its network.
	Key string
	// Fields are what the network states about the partition. Only the source uses them.
	Fields map[string]string
	// Newest is the time of the partition's newest reading; zero if the network does not state it.
	Newest time.Time
	// Window is the wanted range. The caller of [Partitioned.FetchPartitions] sets it.
	Window Window
	// Failing means that the last fetch of the partition failed. The caller of
	// [Partitioned.FetchPartitions] sets it.
	Failing bool
}

// Partitioned is a source whose network has partitions.
type Partitioned interface {
	Source
	// Partitions lists the partitions of the network, with distinct keys.
	Partitions(ctx context.Context, w Window) ([]Partition, error)
	// FetchPartitions is Fetch for partitions and their windows, in the given order. A batch has the
	// result of each partition whose readings end in it. A failed partition does not stop the others, unless its
	// failure concerns all. The error is then that failure, and the results before it remain.
	FetchPartitions(ctx context.Context, parts []Partition, yield func(*Batch) error) error
}

// PartitionResult is the result of the fetch of one partition.
type PartitionResult struct {
	Key    string
	Until  time.Time // end of the fetched window
	Failed bool
}

// Partition notes that all readings of a partition were added, or that its fetch failed. The next batch has the result.
func (b *Builder) Partition(r PartitionResult) { b.batch.Partitions = append(b.batch.Partitions, r) }
