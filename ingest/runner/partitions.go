package runner

import (
	"cmp"
	"context"
	"slices"
	"time"

	"vayu/ingest"
)

// partitionPlan chooses the windows in which the partitions of one source are fetched.
type partitionPlan struct {
	states  map[string]ingest.PartitionProgress
	unsaved map[string]ingest.PartitionProgress // states that the last save failed to store; nil for none
}

const (
	// After maxFailures consecutive failures of a partition, the runner no longer fetches its readings that are older
	// than maxBehind. An API may refuse one location permanently: OpenAQ did so for 21 locations in India.
	maxFailures = 10
	maxBehind   = 7 * 24 * time.Hour
)

// windows returns the partitions to fetch, with their windows. A new partition gets `w`, the window of the run. The
// window of a known one begins feed.Lookback before its watermark, and ends at most feed.BackfillStep after it. A
// watermark in the future counts as w.To. windows omits partitions already fetched up to w.To, and those whose newest
// reading is before their window. It sorts the others by the start of their windows, with failing partitions last.
func (p *partitionPlan) windows(listed []ingest.Partition, w ingest.Window, feed Feed, now time.Time) []ingest.Partition {
	wanted := make([]ingest.Partition, 0, len(listed))
	for _, part := range listed {
		part.Window = w
		if state, known := p.states[part.Key]; known {
			watermark := state.Watermark
			switch {
			case watermark.After(now): // else the partition would never be fetched again
				watermark = w.To
			case !watermark.Before(w.To):
				continue // an interrupted run has fetched it
			}
			part.Failing = state.Failures > 0
			part.Window.From = watermark.Add(-feed.Lookback)
			part.Window.To = earlier(w.To, watermark.Add(feed.BackfillStep()))
		}
		if !part.Newest.IsZero() && part.Newest.Before(part.Window.From) {
			continue
		}
		wanted = append(wanted, part)
	}
	slices.SortStableFunc(wanted, func(a, b ingest.Partition) int {
		if a.Failing != b.Failing {
			return cmp.Compare(rank(a), rank(b))
		}
		return a.Window.From.Compare(b.Window.From)
	})
	return wanted
}

func rank(p ingest.Partition) int {
	if p.Failing {
		return 1
	}
	return 0
}

// apply updates the states with the results of partitions, and returns the changed states. `w` is the window of the
// run, and `lookback` is Feed.Lookback.
func (p *partitionPlan) apply(results []ingest.PartitionResult, w ingest.Window, lookback time.Duration, now time.Time) map[string]ingest.PartitionProgress {
	if p.states == nil {
		p.states = make(map[string]ingest.PartitionProgress)
	}
	changed := make(map[string]ingest.PartitionProgress, len(results))
	for _, result := range results {
		state, known := p.states[result.Key]
		switch {
		case !result.Failed:
			state = ingest.PartitionProgress{Watermark: result.Until}
		case !known:
			state = ingest.PartitionProgress{Watermark: w.From.Add(lookback), Failures: 1}
		default:
			state.Failures++
		}
		if oldest := now.Add(-maxBehind); state.Failures >= maxFailures && state.Watermark.Before(oldest) {
			state.Watermark = oldest
		}
		p.states[result.Key], changed[result.Key] = state, state
	}
	return changed
}

// failing returns the number of partitions whose last fetch failed.
func (p *partitionPlan) failing() (n int) {
	for _, state := range p.states {
		if state.Failures > 0 {
			n++
		}
	}
	return n
}

// partitionFetch is an [ingest.Source] that lists the partitions of a network, and fetches those that the function
// `windows` returns, each with its window.
type partitionFetch struct {
	ingest.Partitioned

	windows func([]ingest.Partition) []ingest.Partition
}

// Fetch implements [ingest.Source].
func (s partitionFetch) Fetch(ctx context.Context, w ingest.Window, yield func(*ingest.Batch) error) error {
	listed, err := s.Partitions(ctx, w)
	if err != nil {
		return err
	}
	return s.FetchPartitions(ctx, s.windows(listed), yield)
}
