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

	"vayu/internal/config"
	"vayu/internal/tracing"
	"vayu/schema"
)

// Config says which store to use.
type Config struct {
	// DSN is postgres://…; empty for SQLite in Data.
	DSN config.DSN
	// Data is the directory of the SQLite file, state.db.
	Data string
	// Share opens SQLite beside the process that holds it, for a command next to
	// a running service. Without it the directory belongs to this process alone.
	Share bool
	// Settings are what an operator may choose; for what is 0 there, that of DefaultSettings.
	Settings Settings
	// Patience is how long one change on a server may take; 0 means three
	// statements that each run into their time-out, 30 seconds, for
	// which others may wait. A command that works alone may want more.
	Patience time.Duration
}

// DB is the store. It can be used once Ready has returned, until Run ends; by
// many goroutines at once.
type DB struct {
	cfg     Config
	log     *slog.Logger
	metrics *metrics
	engine  engine
	ready   chan struct{}
	ended   chan struct{} // closed when no change is done any more
	end     func()        // closes it
	// patience is how long a change on a server may take before its connection is
	// given up.
	patience time.Duration
	// answer is how long a connection, or the answer to a question, is waited for.
	answer time.Duration
	// asking is how long servers are asked what became of a change.
	asking  time.Duration
	failing atomic.Bool // the last change could not be written
	// asked holds one when somebody has been told that the store is failing.
	asked chan struct{}
	// version is the version of the tables that the store is brought to; 0 for the
	// newest, which is what everybody but Load wants.
	version int64
	// digest makes digests with the store's key; nil in a process without it.
	digest atomic.Pointer[Digester]
}

// Digester makes a digest with the store's key: the same of the same purpose and data.
type Digester func(purpose string, data ...[]byte) []byte

// UseDigest gives the store's key of digests to those who change it.
func (db *DB) UseDigest(of Digester) { db.digest.Store(&of) }

// Digest is what the function given to UseDigest makes; nil before that.
func (db *DB) Digest(purpose string, data ...[]byte) []byte {
	of := db.digest.Load()
	if of == nil {
		return nil
	}
	return (*of)(purpose, data...)
}

// engine is what differs between SQLite and PostgreSQL.
type engine interface {
	// open connects, migrates and fills in what the methods below need.
	open(ctx context.Context) error
	// run works until ctx ends; then it calls DB.end and closes everything.
	run(ctx context.Context) error
	// update is DB.Update.
	update(ctx context.Context, do func(*Tx) error) error
	// reader is the pool for reading.
	reader() *sql.DB
	// fault says whether err means that the store cannot work at the moment.
	fault(err error) fault
}

// Open checks the configuration. It connects to nothing and makes no file.
func Open(c Config, log *slog.Logger, reg prometheus.Registerer) (*DB, error) {
	c.Settings = c.Settings.filled()
	db := &DB{
		cfg: c, log: log,
		ready: make(chan struct{}), ended: make(chan struct{}), asked: make(chan struct{}, 1),
		patience: cmp.Or(c.Patience, 3*c.Settings.StatementTimeout), answer: c.Settings.StatementTimeout + answerSlack, asking: outcomePatience,
	}
	db.end = sync.OnceFunc(func() { close(db.ended) })
	if db.log == nil {
		db.log = slog.New(slog.DiscardHandler)
	}
	var err error
	if db.metrics, err = newMetrics(reg); err != nil {
		return nil, err
	}
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

// Name is "sqlite" or "postgres".
func (db *DB) Name() string {
	if db.cfg.DSN == "" {
		return "sqlite"
	}
	return "postgres"
}

// Run opens the store, brings its tables up to date, and serves it until ctx
// ends. It returns an error when the store cannot be opened, or is held by
// another process.
func (db *DB) Run(ctx context.Context) error {
	defer db.end()
	if err := db.engine.open(ctx); err != nil {
		return fmt.Errorf("opening the state store: %w", err)
	}
	close(db.ready)
	var mending sync.WaitGroup
	defer mending.Wait()
	mended, end := context.WithCancel(ctx)
	defer end() // also when the engine ends by itself
	mending.Go(func() { db.mend(mended) })
	return db.engine.run(ctx)
}

// mend tries to write when somebody has asked whether the store can, and the last change
// could not be written: who only reads, as an instance that waits to lead, has no change
// of its own to find out by.
func (db *DB) mend(ctx context.Context) {
	for {
		select {
		case <-db.asked:
			_ = db.Update(ctx, writeNothing) // counted as every other
		case <-ctx.Done():
			return
		}
	}
}

// writeNothing is a change that is written and leaves nothing.
func writeNothing(tx *Tx) error {
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

// Update makes one change that is whole and durable when Update returns nil, and
// undone when it returns an error. do may be called again after a conflict, so
// it must have no effect but through its Tx; it must be quick, and wait for
// nothing but the Tx: on SQLite others wait for it.
//
// An error of do is returned as it is. A statement that failed fails the change
// even when do returns nil, because PostgreSQL does nothing more in such a
// transaction; where a row may be there already, ON CONFLICT says what then. When the store itself cannot work (disk
// full, server away, service stopping), the error is a service_unavailable of
// package schema. A ctx that ends before the change has begun prevents it; after that the change
// goes on to its end, so that its outcome is known.
func (db *DB) Update(ctx context.Context, do func(*Tx) error) error {
	began := time.Now()
	ctx, span := tracing.Start(ctx, "state change", tracing.Inside)
	var after []func()
	err := db.engine.update(ctx, func(tx *Tx) error {
		tx.origin = ctx
		err := do(tx)
		after = tx.after // of this try; nobody else looks before it is over
		return err
	})
	db.metrics.changes.Observe(time.Since(began).Seconds())
	span.Done(err)
	err = db.classify(err)
	var said *schema.Problem
	if failing := errors.As(err, &said) && said.Code == schema.ServiceUnavailable; failing || err == nil {
		if db.failing.Load() != failing { // rarely, so that callers do not wait for each other here
			db.failing.Store(failing)
		}
	}
	if err == nil {
		for _, then := range after {
			then()
		}
	}
	return err
}

// hasEnded reports whether Run is over or about to be.
func (db *DB) hasEnded() bool {
	select {
	case <-db.ended:
		return true
	default:
		return false
	}
}

// errFailing is what Check says of a store that answers and cannot write.
var errFailing = errors.New("the last change could not be written")

// Check asks the store whether it answers, and fails also when the last change
// could not be written, as on a full disk. Then it has the store try to write, for the
// next one who asks.
func (db *DB) Check(ctx context.Context) error {
	var one int
	if err := db.View(ctx).QueryRow("SELECT 1").Scan(&one); err != nil {
		return err
	}
	if db.failing.Load() {
		select {
		case db.asked <- struct{}{}:
		default:
		}
		return errFailing
	}
	return nil
}
