package described

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"vayu/ingest"
	"vayu/ingest/fetch"
	"vayu/ingest/source/described/budget"
	"vayu/ingest/source/described/mapping"
	"vayu/ingest/source/described/record"
)

// Source fetches the readings of a described network.
type Source struct {
	d      *Description
	clock  func() time.Time
	caller *budget.Caller
	// behind has the partitions that lack readings of earlier windows.
	behind map[string]lag
}

// lag means that a partition lacks the readings since the time in the field from.
type lag struct {
	from   time.Time
	failed bool // else an earlier fetch ended before it reached the partition
}

// order is the rank of a partition: first those that an earlier fetch did not reach,
// last those that failed.
func (s *Source) order(part map[string]string) int {
	switch l, late := s.behind[keyOf(part)]; {
	case !late:
		return 1
	case l.failed:
		return 2
	}
	return 0
}

const (
	// maxConsecutive newly failed partitions in a row end a fetch: the API has probably failed.
	maxConsecutive = 5
	// maxBehind is how far back a partition that lacks readings is fetched again.
	maxBehind = 7 * 24 * time.Hour
	// storeAfter readings are passed on before the next partition, so that the first
	// stations need not wait for the last.
	storeAfter = 5000
)

// Fetch yields the readings of a window. A failed partition is counted as [ingest.Unreadable] and
// fetched again by the next call. A failure that concerns all partitions ends Fetch.
func (s *Source) Fetch(ctx context.Context, w ingest.Window, yield func(*ingest.Batch) error) error {
	now := s.clock()
	w = s.clamp(w, now)
	f := &fetching{Source: s, window: w, now: now}
	f.yield = func(b *ingest.Batch) error {
		f.yieldErr = yield(b)
		return f.yieldErr
	}
	if err := f.run(ctx); err != nil {
		if f.builder != nil {
			f.builder.Discard()
		}
		return s.cleaned(fmt.Errorf("fetching source %q: %w", s.d.Name, err))
	}
	return f.builder.Close()
}

// clamp limits the end of a window to now. A window without a start, or an empty one,
// gets the length of Lookback. A stored reading of a future time causes an empty window.
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
	stored   int // readings that were passed on
}

func (f *fetching) run(ctx context.Context) error {
	window := f.fields(f.window, nil)
	listed, err := f.listStations(ctx, window)
	if err != nil {
		return err
	}
	f.builder = ingest.NewBuilder(f.d.Name, f.now, f.yield)
	f.builder.Observe(ctx)
	f.sink = f.d.mapping.NewSink(f.builder, f.now, listed)
	f.builder.Describe(func() (int64, string) {
		number, text := f.sink.Record()
		return number, f.d.clean(text) // the API may quote a secret
	})
	if f.d.partitions == nil {
		if err := f.partition(ctx, nil, f.window); err != nil {
			return err
		}
		return f.sink.Check()
	}
	parts, err := f.d.partitions.fetch(ctx, f.Source, window, f.window.From)
	if err != nil {
		return fmt.Errorf("the list of partitions: %w", err)
	}
	if err := f.each(ctx, parts); err != nil {
		return err
	}
	return f.sink.Check()
}

// listStations fetches the station list. The result has the fields of stations by their ids; it
// is nil without a list.
func (s *Source) listStations(ctx context.Context, window map[string]string) (map[string]map[string]string, error) {
	l := s.d.stations
	if l == nil || l.beside != nil {
		return nil, nil
	}
	entries, err := l.fetch(ctx, s, window, time.Time{})
	if err != nil {
		return nil, fmt.Errorf("the list of stations: %w", err)
	}
	listed := make(map[string]map[string]string, len(entries))
	for _, entry := range entries {
		listed[entry["id"]] = entry
	}
	return listed, nil
}

// each fetches all partitions. A failed partition does not stop the others, unless the
// failure concerns all of them.
func (f *fetching) each(ctx context.Context, parts []map[string]string) error {
	slices.SortStableFunc(parts, func(a, b map[string]string) int { return f.order(a) - f.order(b) })
	failed, consecutive := 0, 0
	for i, part := range parts {
		key := keyOf(part)
		w := f.window
		late := f.behind[key]
		if !late.from.IsZero() && late.from.Before(w.From) {
			w.From = late.from
		}
		err := f.partition(ctx, part, w)
		if err == nil {
			delete(f.behind, key)
			consecutive = 0
			if err := f.passOn(); err != nil {
				return err
			}
			continue
		}
		failed++
		if !late.failed {
			consecutive++
		}
		fatal := f.fatal(ctx, err)
		f.fallBehind(key, w.From, !fatal)
		if fatal || consecutive == maxConsecutive || failed == len(parts) {
			for _, rest := range parts[i+1:] {
				f.fallBehind(keyOf(rest), f.window.From, false)
			}
			return err
		}
		f.builder.Reject(ingest.Unreadable)
	}
	return nil
}

// fallBehind notes that a partition lacks the readings from a time on.
func (f *fetching) fallBehind(key string, from time.Time, failed bool) {
	old, late := f.behind[key]
	if late && old.from.Before(from) {
		from = old.from
	}
	if limit := f.now.Add(-maxBehind); from.Before(limit) && f.window.From.After(limit) {
		from = limit
	}
	f.behind[key] = lag{from, failed || old.failed}
}

// fatal reports whether an error concerns the other partitions, too.
func (f *fetching) fatal(ctx context.Context, err error) bool {
	if ctx.Err() != nil || f.yieldErr != nil || errors.Is(err, budget.ErrUsedUp) {
		return true
	}
	failed, ok := errors.AsType[*fetch.StatusError](err)
	return ok && slices.Contains([]int{
		http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusTooManyRequests,
	}, failed.Status)
}

// passOn yields the readings so far if there are enough.
func (f *fetching) passOn() error {
	if f.sink.Readings()-f.stored < storeAfter {
		return nil
	}
	f.stored = f.sink.Readings()
	closed := f.builder
	f.builder = ingest.NewBuilder(f.d.Name, f.now, f.yield)
	f.builder.Continue(closed)
	f.sink.Replace(f.builder)
	return closed.Close()
}

// partition fetches all pages of a partition; part is nil for a network without partitions.
func (f *fetching) partition(ctx context.Context, part map[string]string, w ingest.Window) error {
	missing, err := f.readPages(ctx, &f.d.readings, f.d.mapping.Records, f.fields(w, part), func(body record.Reply) (int, error) {
		return f.sink.Add(body, part)
	})
	for range missing {
		f.builder.Reject(ingest.NotListed)
	}
	return err
}

// fields returns the values of the fields in templates.
func (s *Source) fields(w ingest.Window, part map[string]string) map[string]string {
	lag := s.d.mapping.Lag()
	fields := map[string]string{
		"from": mapping.Format(w.From.Add(-lag), s.d.window), "to": mapping.Format(w.To, s.d.window),
	}
	maps.Copy(fields, part)
	return fields
}

// readPages reads all pages of a list and passes them to the function use, which returns
// the number of records. missing is how many records of the API's total are not listed.
func (s *Source) readPages(
	ctx context.Context, r *request, records record.Records, fields map[string]string, use func(record.Reply) (int, error),
) (missing int, err error) {
	w := newWalk(&r.pages)
	for {
		address := w.link
		if address == "" {
			address = r.address(fields, w.query())
		}
		reply, err := s.caller.Get(ctx, fetch.Request{URL: address, Header: r.header, Clean: s.d.clean})
		if err != nil {
			return 0, err
		}
		body, err := records.Decode(reply.Body, s.d.clean)
		if err != nil {
			return 0, fmt.Errorf("reading page %d of %s: %w", w.number+1, r.describe(), err)
		}
		if err := w.check(body); err != nil {
			return 0, err
		}
		count, err := use(body)
		if err != nil {
			return 0, err
		}
		last, missing, err := w.advance(reply, body, count, address)
		if err != nil || last {
			return missing, err
		}
	}
}

// cleaned removes secrets from an error. The path of a request may hold a secret, and the
// API may quote a secret.
func (s *Source) cleaned(err error) error {
	if text := s.d.clean(err.Error()); text != err.Error() {
		return &cleanError{err, text}
	}
	return err
}

// cleanError is an error without the secrets of its text.
type cleanError struct {
	err  error
	text string
}

// Error implements error.
func (e *cleanError) Error() string { return e.text }

// Unwrap returns the cause, so that errors.Is and errors.As see it.
func (e *cleanError) Unwrap() error { return e.err }
