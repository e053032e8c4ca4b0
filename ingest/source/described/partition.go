package described

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/fetch"
	"vayu/ingest/source/described/budget"
)

const (
	// maxConsecutive is the number of failed partitions in a row at which the fetch fails, because the API has then
	// probably failed. A partition whose last fetch had failed, too, does not count.
	maxConsecutive = 5
	// A fetch yields its results after storeAfter readings, or when storeEvery has passed since the last yield. So the
	// results of the first partitions are stored early, and after a crash only the last minute is fetched again.
	storeAfter = 5000
	storeEvery = time.Minute
	// maxKey is the largest length of a partition's key in bytes. A hash replaces a longer key.
	maxKey = 200
)

// divided is a source whose network has partitions.
type divided struct{ *Source }

// Partitions implements [ingest.Partitioned]. It requests the list of partitions.
func (s divided) Partitions(ctx context.Context, w ingest.Window) ([]ingest.Partition, error) {
	parts, err := s.listPartitions(ctx, s.clamp(w, s.clock()))
	if err != nil {
		return nil, s.failed(err)
	}
	return parts, nil
}

// FetchPartitions implements [ingest.Partitioned]. It fetches the readings of the given partitions.
func (s divided) FetchPartitions(ctx context.Context, parts []ingest.Partition, yield func(*ingest.Batch) error) error {
	f := s.begin(ctx, ingest.Window{To: s.clock()}, yield)
	return f.fetch(ctx, func() error { return f.each(ctx, parts) })
}

// listPartitions requests the list of partitions, and drops duplicates. Every partition gets the window w.
func (s *Source) listPartitions(ctx context.Context, w ingest.Window) ([]ingest.Partition, error) {
	entries, err := s.d.partitions.fetch(ctx, s, s.fields(w, nil))
	if err != nil {
		return nil, listError("partitions", err)
	}
	parts := make([]ingest.Partition, 0, len(entries))
	known := make(map[string]bool, len(entries))
	for _, e := range entries {
		key := s.d.keyOf(e.fields)
		if !known[key] {
			known[key] = true
			parts = append(parts, ingest.Partition{Key: key, Fields: e.fields, Newest: e.newest, Window: w})
		}
	}
	return parts, nil
}

// keyOf returns the key of a partition. The key consists of the values of those fields that requests for readings use.
// Therefore the key stays the same if the network changes other fields, such as the name of the partition.
func (d *Description) keyOf(fields map[string]string) string {
	var all []string
	for _, name := range d.partitions.names {
		if d.readings.uses(name) {
			all = append(all, fields[name])
		}
	}
	key := strings.ReplaceAll(strings.Join(all, ","), "\x00", "")
	if len(key) > maxKey {
		sum := sha256.Sum256([]byte(key))
		return hex.EncodeToString(sum[:])
	}
	return key
}

// each fetches partitions in order. It fails at a [fetching.fatal] error, at maxConsecutive failures, or if all fail.
func (f *fetching) each(ctx context.Context, parts []ingest.Partition) error {
	failed, consecutive := 0, 0
	for _, part := range parts {
		err := f.partition(ctx, part.Fields, part.Window)
		if err == nil {
			consecutive = 0
			f.builder.Partition(ingest.PartitionResult{Key: part.Key, Until: part.Window.To})
			if err := f.passOn(); err != nil {
				return err
			}
			continue
		}
		failed++
		if !part.Failing {
			consecutive++
		}
		if f.fatal(ctx, err) {
			return err
		}
		f.builder.Partition(ingest.PartitionResult{Key: part.Key, Until: part.Window.To, Failed: true})
		f.builder.Reject(ingest.Unreadable)
		if consecutive == maxConsecutive || failed == len(parts) {
			return err
		}
	}
	return nil
}

// fatal reports whether an error would also occur for the other partitions.
func (f *fetching) fatal(ctx context.Context, err error) bool {
	if ctx.Err() != nil || f.yieldErr != nil || errors.Is(err, budget.ErrUsedUp) {
		return true
	}
	failed, ok := errors.AsType[*fetch.StatusError](err)
	return ok && slices.Contains([]int{
		http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusTooManyRequests,
	}, failed.Status)
}

// passOn yields the readings and the results of partitions so far, if storeAfter or storeEvery requires it. While a
// needed field is in no record, it yields nothing, so that the next fetch requests these partitions again.
func (f *fetching) passOn() error {
	if f.sink.Readings()-f.stored < storeAfter && f.clock().Before(f.passed.Add(storeEvery)) || f.sink.Check() != nil {
		return nil //nolint:nilerr // the end of the fetch checks again
	}
	f.stored, f.passed = f.sink.Readings(), f.clock()
	closed := f.builder
	f.builder = ingest.NewBuilder(f.d.Name, f.now, f.yield)
	f.builder.Continue(closed)
	f.sink.Replace(f.builder)
	return closed.Close()
}
