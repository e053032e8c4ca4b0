// Package columnstore opens ClickHouse: a server or cluster by its DSN, or the real ClickHouse engine in a supervised child
// process on this machine (package engine). Both are spoken to through clickhouse-go, by the same code.
package columnstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/columnstore/embedded"
)

// DB is one ClickHouse. It is safe for concurrent use.
type DB struct {
	cfg     Config
	log     *slog.Logger
	metrics metrics
	conn    driver.Conn
	aside   driver.Conn // see Reserved
	where   *endpoint   // nil for a server
	health  health
}

// Open prepares a DB. It starts nothing and connects to nothing: that is Run's work, and each query's.
func Open(cfg Config, log *slog.Logger, reg prometheus.Registerer) (*DB, error) {
	faults := cfg.Validate()
	if cfg.DSN == "" && cfg.Data == "" {
		faults = append(faults, errors.New("the embedded engine needs a data directory"))
	}
	if cfg.DSN == "" && cfg.Cluster != "" {
		faults = append(faults, errors.New("the embedded engine is a single node; a cluster needs a DSN"))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("opening ClickHouse: %w", err)
	}
	if cfg.DSN != "" {
		reg = nil // the metrics are those of the child
	}
	m, err := newMetrics(reg)
	if err != nil {
		return nil, fmt.Errorf("opening ClickHouse: %w", err)
	}
	db := &DB{cfg: cfg, log: log, metrics: m, health: defaultHealth}
	options, err := db.options()
	if err != nil {
		return nil, fmt.Errorf("opening ClickHouse: %w", err)
	}
	reserved := *options
	reserved.MaxOpenConns, reserved.MaxIdleConns = reservedConnections, reservedConnections
	for options, pool := range map[*clickhouse.Options]*driver.Conn{options: &db.conn, &reserved: &db.aside} {
		conn, err := clickhouse.Open(options)
		if err != nil {
			return nil, fmt.Errorf("opening ClickHouse: %w", err)
		}
		*pool = traced{conn}
	}
	return db, nil
}

// Embedded reports whether the engine is a child process on this machine.
func (db *DB) Embedded() bool { return db.cfg.DSN == "" }

// Own reports whether this process has started the embedded engine that is up, so that nobody else decides about its
// tables. It is false for a server, and for the engine of a service beside a command.
func (db *DB) Own() bool { return db.Embedded() && db.where.own() }

// Cluster is the cluster's name, "" for a single node.
func (db *DB) Cluster() string { return db.cfg.Cluster }

// Conn is the pool of connections. It follows the embedded engine through restarts: a query that finds the engine away
// waits for it a moment (dialPatience) and fails then. The pool is closed when Run returns.
func (db *DB) Conn() driver.Conn { return db.conn }

// reservedConnections is one for each world's snapshot.
const reservedConnections = 2

// Reserved is a small pool beside that of Conn, for queries that must not wait until the questions of clients leave a
// connection free. The engine has room for both pools.
func (db *DB) Reserved() driver.Conn { return db.aside }

// Check says at once what would end Run: the library of the embedded engine is missing, or the data directory belongs to
// a process that goes on.
func (db *DB) Check() error {
	if !db.Embedded() {
		return nil
	}
	holder, held := embedded.FindHolder(db.cfg.Data)
	switch {
	case held && db.cfg.Share:
		return nil
	case held && holder.Stays():
		return &embedded.HeldError{Data: db.cfg.Data, Holder: holder}
	}
	_, err := embedded.FindLibrary(db.cfg.Library)
	return err
}

// Run keeps the engine going until ctx ends: it starts the child, or uses the one that runs when Config.Share is set,
// starts it again when it dies or hangs, and stops it at the end. With a DSN it only waits. It returns nil after ctx, and
// otherwise an error that no restart would cure: the library is missing or another process holds the data directory.
// Run is called once.
func (db *DB) Run(ctx context.Context) error {
	defer func() { _ = errors.Join(db.conn.Close(), db.aside.Close()) }()
	if !db.Embedded() {
		<-ctx.Done()
		return nil
	}
	err := db.supervise(ctx)
	if err == nil {
		db.where.fail(errors.New("the engine was stopped"))
	} else {
		db.where.fail(err)
	}
	return err
}

// readyPause is the time between two questions whether a server answers.
const readyPause = 200 * time.Millisecond

const (
	// sayPause is the time between two lines of the log about a server that does not answer.
	sayPause = 10 * time.Second
	// commandPatience is how long a person waits for a command to find the server, unless Config.Patience says it.
	commandPatience = 20 * time.Second
)

// Ready waits until ClickHouse answers. It fails when ctx ends first, saying what was last in the way, and at once when
// the embedded engine cannot run at all.
func (db *DB) Ready(ctx context.Context) error {
	if db.cfg.Share && !db.Embedded() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cmp.Or(db.cfg.Patience, commandPatience))
		defer cancel()
	}
	tick := time.NewTicker(readyPause)
	defer tick.Stop()
	var said time.Time
	var last error
	for {
		err := unbelieved(db.ready(ctx))
		if _, gone := errors.AsType[*stoppedError](err); err == nil || gone {
			return err
		}
		if ctx.Err() == nil || last == nil { // the end of patience says less than what was in the way
			last = err
		}
		if now := time.Now(); !db.Embedded() && now.After(said.Add(sayPause)) {
			db.log.WarnContext(ctx, "waiting for ClickHouse", "clickhouse", db.cfg.DSN.String(), "error", err)
			said = now
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for ClickHouse: %w", last)
		case <-tick.C:
		}
	}
}

func (db *DB) ready(ctx context.Context) error {
	if db.Embedded() {
		if _, err := db.where.wait(ctx); err != nil {
			return err
		}
	}
	return db.conn.Ping(ctx)
}

// Version is what ClickHouse calls itself, such as 26.7.2.1.
func (db *DB) Version(ctx context.Context) (string, error) {
	var version string
	if err := db.conn.QueryRow(ctx, "SELECT version()").Scan(&version); err != nil {
		return "", fmt.Errorf("asking ClickHouse for its version: %w", err)
	}
	return version, nil
}

// Holder says which process has the data directory of the embedded engine; ok is false when none has.
func (db *DB) Holder() (h embedded.Holder, ok bool) {
	if !db.Embedded() {
		return embedded.Holder{}, false
	}
	return embedded.FindHolder(db.cfg.Data)
}
