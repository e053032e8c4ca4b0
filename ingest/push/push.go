// Package push accepts readings that accounts send over HTTP, and registers the stations
// of accounts. A station is private to its account unless it is published.
package push

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/ingest"
	"vayu/internal/access"
	"vayu/internal/httpapi"
	"vayu/schema"
)

// Source is the name of the source of pushed readings: the value of the column `source` in their rows.
const Source = "push"

// Limits of one request.
const (
	maxBody     = 10 << 20
	maxReadings = 100_000
	// maxRejected is the largest number of rejected readings that a reply lists.
	maxRejected = 1000
)

// Store stores batches of readings durably. It is idempotent.
type Store interface {
	Load(ctx context.Context, b *ingest.Batch) error
}

// Config configures a Service. All fields except Log, Metrics and Now are required.
type Config struct {
	// Conn reads and writes the table `pushed_station` of both worlds.
	Conn driver.Conn
	// Database returns the name of the database of a world (live or sandbox).
	Database func(schema.World) string
	// Store returns the store of the readings of a world.
	Store func(schema.World) Store
	// Change returns a handler that runs a change and stores its audit row.
	Change func(access.Changer) httpapi.Handler
	// Replay returns a handler that answers a repeated Idempotency-Key with the stored reply.
	Replay  func(httpapi.Handler) httpapi.Handler
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil for none
	Now     func() time.Time      // nil is time.Now
}

// Service accepts readings and registrations of both worlds. It is safe for concurrent use.
type Service struct {
	worlds  [len(schema.Worlds)]*world
	change  func(access.Changer) httpapi.Handler
	replay  func(httpapi.Handler) httpapi.Handler
	slots   slots
	metrics *metrics
	now     func() time.Time
}

// world has the parts of a Service that are separate for each world.
type world struct {
	stations  *registry
	committer *committer
}

// New returns a service. It starts nothing.
func New(c Config) (*Service, error) {
	if c.Conn == nil || c.Database == nil || c.Store == nil || c.Change == nil || c.Replay == nil {
		return nil, errors.New("push needs connection, database, store, change and replay")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	m := newMetrics(c.Metrics)
	s := &Service{change: c.Change, replay: c.Replay, slots: newSlots(), metrics: m, now: c.Now}
	for _, w := range schema.Worlds {
		stations, err := newRegistry(c.Conn, c.Database(w))
		if err != nil {
			return nil, fmt.Errorf("creating the registry of stations: %w", err)
		}
		s.worlds[w] = &world{stations: stations, committer: newCommitter(c.Store(w), c.Log.With("world", w), m)}
	}
	return s, nil
}

// Run stores readings until ctx ends. Requests that still wait at the end get the problem service_unavailable.
func (s *Service) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, w := range s.worlds {
		all.Go(func() { w.committer.run(ctx) })
	}
	all.Wait()
	return nil
}

// Routes returns the endpoints that write readings and stations.
func (s *Service) Routes() []httpapi.Route {
	const write = string(schema.ReadingsWrite)
	return []httpapi.Route{
		{Method: http.MethodPost, Path: "/v1/readings", Scope: write, Body: maxBody, BodyTypes: []string{ndjsonType, csvType, arrowType}, Handler: s.replay(s.postReadings)},
		{Method: http.MethodPut, Path: "/v1/stations/{id}", Scope: write, Body: httpapi.SmallBody, Handler: s.putStation},
	}
}

// unavailable returns err if it is a *schema.Problem, and otherwise the problem service_unavailable. The client can
// retry the request, because the inserts of readings and stations are idempotent.
func unavailable(err error) error {
	if _, ok := errors.AsType[*schema.Problem](err); ok {
		return err
	}
	return schema.Unavailable("Readings cannot be stored at the moment. Please send the same request again.", err)
}
