package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/internal/config"
	"vayu/internal/tracing"
	"vayu/schema"
)

// Config selects and configures a store.
type Config struct {
	// DSN is the address of a PostgreSQL server, postgres://…. If it is empty, the store is SQLite in the directory
	// Data.
	DSN config.DSN
	// Data is the directory of the SQLite file, state.db.
	Data string
	// Share lets a command open the SQLite file while a service has locked the directory. If no service has locked it,
	// the command migrates the tables. On PostgreSQL, Share shortens the wait for the server.
	Share bool
	// Settings are the operator's settings. A zero value stands for the default in DefaultSettings.
	Settings Settings
	// ChangeTimeout limits one change on PostgreSQL, because other changes may wait for its locks. 0 selects three
	// times the statement timeout, by default 30 seconds. A command whose locks delay no other change may set more.
	ChangeTimeout time.Duration
	// Version is the target version of the tables, or 0 for the newest version. Only dump.Load sets Version.
	Version int64
}

// DB is the store. It can be used after Ready has returned nil, until Run ends. It is safe for concurrent use.
type DB struct {
	cfg     Config
	log     *slog.Logger
	metrics *metrics
	engine  engine
	ready   chan struct{}
	ended   chan struct{} // closed when no more changes are made
	end     func()        // closes ended
	// changeTimeout limits a change on PostgreSQL. When it expires, the connection of the change is closed.
	changeTimeout time.Duration
	// answerTimeout limits the wait for a connection, and the wait for the result of a query.
	answerTimeout time.Duration
	failing       atomic.Bool // the last change could not be written
	// probe requests a write that changes nothing. Check sends a value to it, and probeWrites receives the value.
	probe chan struct{}
	// digest makes keyed digests. It is nil in a process without the digest key.
	digest atomic.Pointer[Digester]
}

// Digester returns a keyed digest (a MAC) of data. The same purpose and data give the same digest.
type Digester func(purpose string, data ...[]byte) []byte

// UseDigest sets the function that Digest calls. Package encryption, which has the key, provides the function.
func (db *DB) UseDigest(of Digester) { db.digest.Store(&of) }

// Digest returns a keyed digest of data. It calls the function that UseDigest set, and returns nil if none is set.
// Different purposes give different digests of the same data.
func (db *DB) Digest(purpose string, data ...[]byte) []byte {
	of := db.digest.Load()
	if of == nil {
		return nil
	}
	return (*of)(purpose, data...)
}

// engine has the methods that differ between SQLite and PostgreSQL.
type engine interface {
	// open opens the store: it connects, migrates the tables and prepares the other methods.
	open(ctx context.Context) error
	// run works until ctx ends: it makes the queued changes on SQLite, and updates table statistics on PostgreSQL. Then
	// it calls DB.end and closes the connections.
	run(ctx context.Context) error
	// update makes one change, with the guarantees of DB.Update.
	update(ctx context.Context, do func(*Tx) error) error
	// reader returns the pool of connections for queries outside a change.
	reader() *sql.DB
	// fault classifies err as an error of a statement, of the store or of a connection.
	fault(err error) fault
}

// Open checks the configuration and returns a store that Run opens. Open does not connect or create files.
func Open(c Config, log *slog.Logger, reg prometheus.Registerer) (*DB, error) {
	c.Settings = c.Settings.withDefaults()
	db := &DB{
		cfg: c, log: log,
		ready: make(chan struct{}), ended: make(chan struct{}), probe: make(chan struct{}, 1),
		changeTimeout: cmp.Or(c.ChangeTimeout, 3*c.Settings.StatementTimeout), answerTimeout: c.Settings.StatementTimeout + answerSlack,
	}
	db.end = sync.OnceFunc(func() { close(db.ended) })
	if db.log == nil {
		db.log = slog.New(slog.DiscardHandler)
	}
	db.metrics = newMetrics(reg)
	if c.DSN == "" {
		db.engine = &sqlite{db: db, queue: make(chan *change, queueLength), sandbox: make(chan *change, queueLength)}
		return db, nil
	}
	u, err := url.Parse(string(c.DSN))
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, fmt.Errorf("state: %s is not postgres://user:password@host/name", c.DSN)
	}
	db.engine = &postgres{db: db}
	return db, nil
}

// Name returns the name of the engine, "sqlite" or "postgres".
func (db *DB) Name() string {
	if db.cfg.DSN == "" {
		return "sqlite"
	}
	return "postgres"
}

// Run opens the store, migrates its tables, and serves it until ctx ends. It fails if the store cannot be
// opened, or if another process has locked the directory of the SQLite file.
func (db *DB) Run(ctx context.Context) error {
	defer db.end()
	if err := db.engine.open(ctx); err != nil {
		return fmt.Errorf("opening the state store: %w", err)
	}
	close(db.ready)
	var probing sync.WaitGroup
	defer probing.Wait()
	probed, end := context.WithCancel(ctx)
	defer end() // also when the engine ends by itself
	probing.Go(func() { db.probeWrites(probed) })
	return db.engine.run(ctx)
}

// probeWrites makes a no-op write each time Check requests a write, until ctx ends. An instance that otherwise
// only reads, such as a standby, thus notices that the store can write again.
func (db *DB) probeWrites(ctx context.Context) {
	for {
		select {
		case <-db.probe:
			_ = db.Update(ctx, noopWrite) // Update records the result
		case <-ctx.Done():
			return
		}
	}
}

// noopWrite inserts a row and deletes it, so that nothing changes.
func noopWrite(tx *Tx) error {
	name := "written by " + ulid.Make().String()
	if _, err := tx.Exec("INSERT INTO setting (name, value) VALUES ($1, '')", name); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM setting WHERE name = $1", name)
	return err
}

// Ready waits until the store can be used.
func (db *DB) Ready(ctx context.Context) error {
	select {
	case <-db.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Update makes one change. The change is complete and durable when Update returns nil. It is rolled back when Update
// returns an error, unless the error states that the outcome is unknown. Update may call `do` again, such as after a
// conflict, so `do` must have no effects outside its Tx. `do` must be quick, because on SQLite other changes wait.
//
// When the store is unavailable (disk full, server unreachable, service stopping), the error is a *schema.Problem with
// the code service_unavailable. Otherwise an error of `do` is returned unchanged. A failed statement fails the change
// even when `do` returns nil, because PostgreSQL aborts such a transaction. Use ON CONFLICT where a row may already
// exist. If ctx ends before the change has started, the change does not start. A started change continues, so that its
// outcome is known.
func (db *DB) Update(ctx context.Context, do func(*Tx) error) error {
	began := time.Now()
	ctx, span := tracing.Start(ctx, "state change", tracing.Internal)
	var made *Tx // of the last attempt
	err := db.engine.update(ctx, func(tx *Tx) error {
		tx.origin, made = ctx, tx
		return do(tx)
	})
	db.metrics.changes.Observe(time.Since(began).Seconds())
	span.Done(err)
	err = db.classify(err)
	var problem *schema.Problem
	if failing := errors.As(err, &problem) && problem.Code == schema.ServiceUnavailable; failing || err == nil {
		if db.failing.Load() != failing { // writes only a new value, because concurrent writes contend for the cache line
			db.failing.Store(failing)
		}
	}
	if err == nil {
		for _, then := range made.after {
			then()
		}
	}
	return err
}

// hasEnded reports whether the store makes no more changes, because Run is ending or has ended.
func (db *DB) hasEnded() bool {
	select {
	case <-db.ended:
		return true
	default:
		return false
	}
}

// errFailing is the error of Check if the store answers queries but could not write the last change.
var errFailing = errors.New("the last change could not be written")

// Check returns an error if a query fails, or if the last change could not be written, as on a full disk. In the
// second case it requests a no-op write. If that write succeeds, a later Check returns nil.
func (db *DB) Check(ctx context.Context) error {
	var one int
	if err := db.View(ctx).QueryRow("SELECT 1").Scan(&one); err != nil {
		return err
	}
	if db.failing.Load() {
		select {
		case db.probe <- struct{}{}:
		default:
		}
		return errFailing
	}
	return nil
}

type metrics struct {
	changes   prometheus.Histogram
	commits   prometheus.Counter
	conflicts prometheus.Counter
	faults    prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	return &metrics{
		changes: auto.NewHistogram(prometheus.HistogramOpts{
			Name: "vayu_state_change_seconds", Help: "Time from the request of a change until it is durable, seconds.",
			Buckets: []float64{.0003, .001, .003, .01, .03, .1, .3, 1, 3, 10},
		}),
		commits: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_state_commits_total", Help: "Commits; one commit can hold many changes.",
		}),
		conflicts: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_state_conflicts_total", Help: "Changes retried after a conflict with another change.",
		}),
		faults: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_state_faults_total", Help: "Errors of an unavailable store: disk full, server unreachable.",
		}),
	}
}
