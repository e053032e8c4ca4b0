package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/query/aggregate"
	"vayu/query/alert/local"
	"vayu/query/caching"
	"vayu/query/forecast"
	"vayu/query/history"
	"vayu/query/hours"
	"vayu/query/places"
	"vayu/query/scales"
	"vayu/query/search"
	"vayu/query/snapshot"
	"vayu/query/sources"
	"vayu/query/tiles"
	"vayu/schema"
	"vayu/schema/air"
)

// Config configures a Service. The zero value of an optional field selects the default that the
// field's comment states.
type Config struct {
	// Conn runs the queries that answer clients, for both worlds.
	Conn aggregate.Conn
	// Snapshots runs the queries that build snapshots; nil means Conn. It should have its own connections, because
	// queries of clients could occupy all connections of Conn.
	Snapshots aggregate.Conn
	// Database returns the name of the database of a world (live or sandbox). nil means [schema.World.Database].
	Database func(schema.World) string
	// Operations is the name of the database with the runs of sources. "" means [schema.OpsDatabase].
	Operations string
	// Problems returns the present problems of sources. nil means that there are none.
	Problems sources.Problems
	// Progress returns the progress of the sources. nil means that it is unknown.
	Progress sources.Progress
	// Directory is the directory of the snapshot files, which the next start
	// restores. "" means that there are no files.
	Directory string
	// PinFile is the path of the file with pin codes. For "", the service searches for it (see
	// [places.FindPinFile]).
	PinFile string
	// Poll is the interval between two polls for new roll-ups. If it is 0, the interval is 1 s.
	Poll time.Duration
	// HistoryBytes limits the memory of the history caches of both worlds together. Three quarters are for days of
	// cities, and one quarter is for hours. If it is 0, the limit is 64 MiB. That is enough for 10 years of about 200
	// cities and a month of hours of about 300 places.
	HistoryBytes int64
	// Kinds are the kinds of stations that the city tables include. Stations of these kinds count if a query names
	// no kinds. nil means [air.Reference].
	Kinds   []air.StationKind
	Log     *slog.Logger          // nil for none
	Metrics prometheus.Registerer // nil for none
	Now     func() time.Time      // nil is time.Now
}

const (
	// defaultPoll is the default of Config.Poll. Answers must show each roll-up, by this or another instance, within
	// two seconds. A poll interval of one second leaves another second for the refresh.
	defaultPoll    = time.Second
	defaultHistory = 64 << 20
	// refreshTimeout limits a refresh of a snapshot. It is long, because the first refresh after an import of several
	// years reads all hourly rows of the stations.
	refreshTimeout = 2 * time.Minute
	// listPeriod is how long a cached page may be used. The ages of data on a cached page can be too low by this time.
	// That does not matter, because pages state ages in whole hours.
	listPeriod = 10 * time.Second
	// maxLists and maxListBytes limit the cached pages of each world to 32 MB. A page above maxListBytes is not cached.
	maxLists, maxListBytes = 800, 40 << 10
)

// Service answers API queries about the air quality of both worlds (live and sandbox).
type Service struct {
	worlds       [len(schema.Worlds)]*worldState
	sources      *sources.Lists
	pins         *places.Pins
	pinFile      string
	poll         time.Duration
	log          *slog.Logger
	now          func() time.Time
	cacheControl caching.Control
	historySlots history.Slots // limit of concurrent history queries per account
}

// worldState has the parts of a Service that are separate for each world (live and sandbox).
type worldState struct {
	world          schema.World
	tables         aggregate.Tables // for queries that answer clients
	snapshotTables aggregate.Tables // for queries that build snapshots
	explainTimeout time.Duration    // time limit of the query that explains a missing answer
	publisher      *snapshot.Publisher
	history        *history.History
	forecasts      *forecast.Latest
	places         atomic.Pointer[search.Index] // nil until the first search
	tiles          *tiles.Cache
	hours          hours.Cache
	scaled         scales.Cache
	lists          *caching.Replies // pages of cities, stations, places, boxes and current rankings
	metrics        *worldMetrics
	mu             sync.Mutex // serialises refreshes
}

// New returns a Service without data. Afterwards, Restore loads the snapshots of the last run, and Run keeps the
// snapshots up to date.
func New(c Config) (*Service, error) {
	if c.Conn == nil {
		return nil, errors.New("query needs a connection to ClickHouse")
	}
	m := newMetrics(c.Metrics)
	s := &Service{pins: places.NewPins(), pinFile: c.PinFile, poll: c.Poll, log: c.Log, now: c.Now}
	if s.poll <= 0 {
		s.poll = defaultPoll
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if c.Database == nil {
		c.Database = schema.World.Database
	}
	if c.Snapshots == nil {
		c.Snapshots = c.Conn
	}
	if c.HistoryBytes <= 0 {
		c.HistoryBytes = defaultHistory
	}
	s.sources = sources.New(c.Conn, cmp.Or(c.Operations, schema.OpsDatabase), c.Problems, c.Progress)
	for _, world := range schema.Worlds {
		w := &worldState{world: world, explainTimeout: explainTimeout, metrics: m.world(world), tiles: tiles.NewCache(s.pins), lists: caching.NewReplies(listPeriod, maxLists, maxListBytes)}
		w.snapshotTables = aggregate.NewTables(c.Snapshots, c.Database(world))
		w.forecasts = forecast.NewLatest(w.snapshotTables, world.String(), c.Directory, s.log, w.metrics.errors)
		w.tables = w.snapshotTables.WithBreaker(c.Conn, "history of "+world.String())
		w.publisher = snapshot.NewPublisher(w.snapshotTables, world, aggregate.KindsOf(c.Kinds...), c.Directory)
		reads := history.Counters{Loads: w.metrics.historyLoads, Failures: w.metrics.historyErrors}
		var err error
		if w.history, err = history.New(w.tables, c.HistoryBytes/int64(len(s.worlds)), &s.historySlots, reads); err != nil {
			return nil, fmt.Errorf("creating the history cache of %s: %w", world, err)
		}
		s.worlds[world] = w
	}
	m.watch(s)
	return s, nil
}

// Restore publishes the snapshots and forecasts of the last run from their files. It returns the
// number of worlds that have a snapshot. It logs and ignores unusable files. It takes about 10 ms,
// and must be called before the API listens.
func (s *Service) Restore() int {
	n := 0
	for _, w := range s.worlds {
		ok, err := w.publisher.Restore()
		if err != nil {
			s.log.Warn("reading the snapshot file failed; starting without it", "world", w.world.String(), "error", err)
		}
		if ok {
			n++
		}
		if err := w.forecasts.Restore(); err != nil {
			s.log.Warn("reading the file of forecasts failed; starting without it", "world", w.world.String(), "error", err)
		}
	}
	return n
}

// Run loads the pin codes, and refreshes the snapshots and forecasts until ctx is done. While refreshes of a snapshot
// fail, the last snapshot stays published. Run counts each failure, and logs the first one after a success.
func (s *Service) Run(ctx context.Context) error {
	var wait sync.WaitGroup
	wait.Go(func() { s.loadPins(ctx) })
	for _, w := range s.worlds {
		wait.Go(func() { s.follow(ctx, w) })
		wait.Go(func() { w.forecasts.Run(ctx) })
	}
	wait.Wait()
	return nil
}

func (s *Service) loadPins(ctx context.Context) {
	err := s.pins.Load(ctx, s.pinFile)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.log.Error("loading pin codes failed; queries by pin code are unavailable", "error", err)
	default:
		s.log.Info("pin codes loaded", "count", s.pins.Len())
	}
}

// follow polls for new roll-ups of a world until ctx is done. It logs when polls begin
// to fail, and when they succeed again.
func (s *Service) follow(ctx context.Context, w *worldState) {
	tick := time.NewTicker(s.poll)
	defer tick.Stop()
	failing := false
	for {
		err := s.Refresh(ctx, w.world)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			s.log.Warn("refreshing the snapshot failed; the last one stays published", "world", w.world.String(), "error", err)
		case err == nil && failing:
			s.log.Info("refreshing the snapshot recovered", "world", w.world.String())
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Refresh publishes a new snapshot of a world if there is none yet, if a roll-up has changed rows of the world, or if
// an hour has become current (see [snapshot.Publisher.Refresh]). Calls for the same world run one after the other.
func (s *Service) Refresh(ctx context.Context, world schema.World) error {
	w := s.worlds[world]
	w.mu.Lock()
	defer w.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	changed, err := w.publisher.Refresh(ctx, s.now())
	if err != nil {
		w.metrics.errors.Inc()
		return err
	}
	if changed.Rolled {
		w.history.Invalidate(changed.From)
	}
	if !changed.Published {
		return nil
	}
	w.metrics.builds.Inc()
	if err := w.publisher.Save(); err != nil {
		w.metrics.errors.Inc()
		s.log.Error("writing the snapshot file failed", "world", world.String(), "error", err)
	}
	return nil
}

// Air returns the snapshots, histories and forecasts of both worlds, from which alerts are evaluated.
func (s *Service) Air() local.Air {
	out := local.Air{LocatePin: s.locatePin, Now: s.now}
	for _, world := range schema.Worlds {
		w := s.worlds[world]
		out.Publishers[world], out.Histories[world], out.Latest[world] = w.publisher, w.history, w.forecasts
	}
	return out
}

// Newest returns the newest hour of any city in the snapshot of a world, in UTC. It
// returns false if there is no snapshot, or no city in it has an hour.
func (s *Service) Newest(world schema.World) (time.Time, bool) {
	snap := s.worlds[world].publisher.Latest()
	if snap == nil || snap.Newest() == 0 {
		return time.Time{}, false
	}
	return aggregate.Instant(snap.Newest()), true
}
