package push

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"vayu/ingest"
	"vayu/schema/air"
)

const (
	// maxGroup is the number of readings that makes a group full. No further request joins a full group.
	maxGroup = 200_000
	// storeTimeout bounds the insert of a group.
	storeTimeout = 20 * time.Second
)

var errStopping = errors.New("the service is stopping")

// request has the accepted readings of one request. `now` is the time at which the readings were checked.
type request struct {
	readings []stationReading
	now      time.Time
	run      uint64     // ID of the run if the readings come from a stream; 0 over HTTP
	done     chan error // receives the outcome of the insert; buffered
}

// stationReading is a reading with its station.
type stationReading struct {
	station *station
	air.Reading
}

// committer stores readings of several requests with one insert (group commit). Requests that arrive during an insert
// form the next group. A single client therefore waits for one insert, and many clients share an insert.
type committer struct {
	store   Store
	queue   chan *request
	stopped chan struct{} // closed when the method run has ended
	log     *slog.Logger
	metrics *metrics
}

func newCommitter(store Store, log *slog.Logger, m *metrics) *committer {
	return &committer{store: store, queue: make(chan *request, slotsTotal), stopped: make(chan struct{}), log: log, metrics: m}
}

// commit stores readings and returns nil once they are durable. If it returns an error, the readings may still have
// been stored.
func (c *committer) commit(ctx context.Context, now time.Time, readings []stationReading) error {
	r := &request{readings: readings, now: now, done: make(chan error, 1)}
	select {
	case c.queue <- r:
	case <-c.stopped:
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-r.done:
		return err
	case <-c.stopped:
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run stores groups of requests until ctx ends.
func (c *committer) run(ctx context.Context) {
	defer close(c.stopped)
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-c.queue:
			c.storeAll(ctx, c.collect(first))
		}
	}
}

// storeAll stores a group and reports the result to its requests. If the insert of the group fails, storeAll inserts
// each request separately, so that no request fails because of another.
func (c *committer) storeAll(ctx context.Context, group []*request) {
	err := c.storeGroup(ctx, group)
	if err != nil {
		c.metrics.inserts.WithLabelValues("failed").Inc()
		c.log.WarnContext(ctx, "storing pushed readings failed", "requests", len(group), "error", err)
	} else {
		c.metrics.inserts.WithLabelValues("done").Inc()
	}
	for _, r := range group {
		if err != nil && len(group) > 1 {
			c.storeAll(ctx, []*request{r})
			continue
		}
		r.done <- err
	}
}

// collect returns a group: the first request, and queued requests until the group is full or the queue is empty.
func (c *committer) collect(first *request) []*request {
	group, rows := []*request{first}, len(first.readings)
	for rows < maxGroup {
		select {
		case r := <-c.queue:
			group = append(group, r)
			rows += len(r.readings)
		default:
			return group
		}
	}
	return group
}

// storeGroup stores the readings of a group. It describes only published stations to the store, so that private
// stations never reach the table `station`.
func (c *committer) storeGroup(ctx context.Context, group []*request) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	published := make(map[string]bool)
	latest := group[0].now
	for _, r := range group {
		if r.now.After(latest) {
			latest = r.now
		}
	}
	b := ingest.NewBuilder(Source, latest, func(batch *ingest.Batch) error {
		defer batch.Release()
		if len(batch.Rejected) > 0 { // a bug: the readings have passed the same rules
			return fmt.Errorf("accepted readings were rejected: %v", batch.Rejected)
		}
		described := batch.Stations[:0]
		for _, s := range batch.Stations {
			if published[s.ID] {
				described = append(described, s)
			}
		}
		batch.Stations = described
		batch.Run = group[0].run
		return c.store.Load(ctx, batch)
	})
	for _, r := range group {
		for i := range r.readings {
			reading := &r.readings[i]
			published[reading.station.ID] = reading.station.Published
			if err := b.Add(b.Station(reading.station.public()), reading.Reading); err != nil {
				b.Discard()
				return err
			}
		}
	}
	return b.Close()
}
