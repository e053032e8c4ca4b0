package described

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"vayu/ingest"
	"vayu/ingest/fetch"
	"vayu/ingest/source/described/budget"
	"vayu/ingest/source/described/mapping"
	"vayu/ingest/source/described/timestamp"
)

// Source fetches the readings of a network that a description defines.
type Source struct {
	d      *Description
	clock  func() time.Time
	caller *budget.Caller
}

// Fetch yields the readings of a window. If one partition of the network fails, Fetch counts it as [ingest.Unreadable]
// and continues. A failure that affects all partitions ends Fetch.
func (s *Source) Fetch(ctx context.Context, w ingest.Window, yield func(*ingest.Batch) error) error {
	f := s.begin(ctx, s.clamp(w, s.clock()), yield)
	return f.fetch(ctx, func() error { return f.all(ctx) })
}

// clamp limits the end of a window to the present. If the window then has no start or starts too late, clamp moves the
// start to Lookback before the end. A stored reading with a time in the future can make the start too late.
func (s *Source) clamp(w ingest.Window, now time.Time) ingest.Window {
	if w.To.IsZero() || w.To.After(now) {
		w.To = now
	}
	if w.From.IsZero() || !w.From.Before(w.To) {
		w.From = w.To.Add(-s.d.Feed.Lookback)
	}
	return w
}

// fetching is the state of one call of Fetch.
type fetching struct {
	*Source

	window   ingest.Window
	now      time.Time
	yield    func(*ingest.Batch) error
	yieldErr error
	builder  *ingest.Builder
	sink     *mapping.Sink
	stored   int       // number of readings that passOn has yielded
	passed   time.Time // time at which passOn last yielded
}

func (s *Source) begin(ctx context.Context, w ingest.Window, yield func(*ingest.Batch) error) *fetching {
	f := &fetching{Source: s, window: w, now: s.clock()}
	f.passed = f.now
	f.yield = func(b *ingest.Batch) error {
		f.yieldErr = yield(b)
		return f.yieldErr
	}
	f.builder = ingest.NewBuilder(s.d.Name, f.now, f.yield)
	f.builder.Observe(ctx)
	return f
}

// fetch requests the station list, calls the function `read`, and yields the readings that `read` has not yielded. If
// `read` fails, fetch discards these readings. But for a network with partitions it still yields them, unless ctx has
// ended or a batch could not be stored. If every record lacks a needed field, fetch yields nothing.
func (f *fetching) fetch(ctx context.Context, read func() error) error {
	err := f.list(ctx)
	if err != nil {
		f.builder.Discard()
		return f.failed(err)
	}
	err = read()
	renamed := f.sink.Check()
	switch {
	case err == nil && renamed == nil:
		return f.builder.Close()
	case renamed == nil && f.d.partitions != nil && ctx.Err() == nil && f.yieldErr == nil:
		return errors.Join(f.failed(err), f.builder.Close())
	case err == nil:
		err = renamed
	}
	f.builder.Discard()
	return f.failed(err)
}

// list requests the station list and creates the sink, which turns records into readings.
func (f *fetching) list(ctx context.Context) error {
	listed, err := f.listStations(ctx, f.fields(f.window, nil))
	if err != nil {
		return err
	}
	f.sink = f.d.mapping.NewSink(f.builder, f.now, listed)
	f.builder.Describe(func() (int64, string) {
		number, text := f.sink.Record()
		return number, f.d.clean(text) // the API may quote a secret
	})
	return nil
}

// listStations requests the station list. It returns the fields of each station by the station's id, or nil if the
// description has no request for such a list.
func (s *Source) listStations(ctx context.Context, window map[string]string) (map[string]map[string]string, error) {
	l := s.d.stations
	if l == nil || l.request.url == nil {
		return nil, nil
	}
	entries, err := l.fetch(ctx, s, window)
	if err != nil {
		return nil, listError("stations", err)
	}
	listed := make(map[string]map[string]string, len(entries))
	for _, e := range entries {
		listed[e.fields["id"]] = e.fields
	}
	return listed, nil
}

// all fetches the window for the whole network, except for partitions whose newest reading is older than the window.
func (f *fetching) all(ctx context.Context) error {
	if f.d.partitions == nil {
		return f.partition(ctx, nil, f.window)
	}
	parts, err := f.listPartitions(ctx, f.window)
	if err != nil {
		return err
	}
	return f.each(ctx, slices.DeleteFunc(parts, func(p ingest.Partition) bool {
		return !p.Newest.IsZero() && p.Newest.Before(f.window.From)
	}))
}

func listError(of string, err error) error { return fmt.Errorf("the list of %s: %w", of, err) }

// failed adds the name of the source to the error of a fetch, and removes secrets from the error.
func (s *Source) failed(err error) error {
	return fetch.WithoutSecrets(fmt.Errorf("fetching source %q: %w", s.d.Name, err), s.d.clean) // a URL or a reply may have one
}

// fields returns the values of the fields in templates: the fields of a partition and the limits of the window, whose
// start is moved back by [mapping.Mapping.Lag].
func (s *Source) fields(w ingest.Window, part map[string]string) map[string]string {
	lag := s.d.mapping.Lag()
	fields := map[string]string{
		"from": timestamp.Format(w.From.Add(-lag), s.d.window), "to": timestamp.Format(w.To, s.d.window),
	}
	maps.Copy(fields, part)
	return fields
}
