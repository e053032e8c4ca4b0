// Package columnstore opens ClickHouse: a server or cluster by DSN, or the embedded engine in a supervised child
// process (package embedded). The same code uses all of them through clickhouse-go.
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
	"vayu/internal/columnstore/embedded/chdb"
)

// DB is one ClickHouse server, cluster or embedded engine. It is safe for concurrent use.
type DB struct {
	cfg      Config
	log      *slog.Logger
	metrics  metrics
	conn     driver.Conn
	reserved driver.Conn // see Reserved
	endpoint *endpoint   // nil for a server
	health   health
	guest    bool // Config.Guest is set, and this process has used the engine of a service
}

// Open returns a DB for a valid configuration. It does not connect: Run starts the engine, and each query connects.
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
		reg = nil // the metrics describe an embedded engine
	}
	db := &DB{cfg: cfg, log: log, metrics: newMetrics(reg), health: defaultHealth}
	options, err := db.options()
	if err != nil {
		return nil, fmt.Errorf("opening ClickHouse: %w", err)
	}
	reserved := *options
	reserved.MaxOpenConns, reserved.MaxIdleConns = reservedConnections, reservedConnections
	for options, pool := range map[*clickhouse.Options]*driver.Conn{options: &db.conn, &reserved: &db.reserved} {
		conn, err := clickhouse.Open(options)
		if err != nil {
			return nil, fmt.Errorf("opening ClickHouse: %w", err)
		}
		*pool = traced{conn}
	}
	return db, nil
}

// Embedded reports whether the DB is the embedded engine, not a server or cluster.
func (db *DB) Embedded() bool { return db.cfg.DSN == "" }

// OwnsEngine reports whether this process started the running embedded engine. In that case only this process changes
// the engine's tables. OwnsEngine is false for a server, and for a command that uses the engine of a service.
func (db *DB) OwnsEngine() bool { return db.Embedded() && db.endpoint.own() }

// Config returns the configuration that Open received.
func (db *DB) Config() Config { return db.cfg }

// Log returns the log that Open received.
func (db *DB) Log() *slog.Logger { return db.log }

// Conn returns the pool of connections. The pool survives restarts of the embedded engine: a query waits up to
// dialTimeout for the engine and then fails. Run closes the pool when it returns.
func (db *DB) Conn() driver.Conn { return db.conn }

// reservedConnections is the size of the pool [DB.Reserved]: one connection for each snapshot (current answers in
// memory), live and sandbox.
const reservedConnections = 2

// Reserved returns a second, small pool, for queries that must not wait for the clients' queries on Conn. The embedded
// engine accepts twice as many concurrent queries as Conn has connections, so it has capacity for both pools.
func (db *DB) Reserved() driver.Conn { return db.reserved }

// Check returns an error if the embedded engine's library is missing or unsafe. It also returns an error if the engine
// of another running process has locked the data directory, unless Config.Share is set. Check starts nothing.
func (db *DB) Check() error {
	if !db.Embedded() {
		return nil
	}
	holder, held := embedded.FindHolder(db.cfg.Data)
	switch {
	case held && db.cfg.Share:
		return nil
	case held && holder.ParentAlive():
		return &embedded.HeldError{Data: db.cfg.Data, Holder: holder}
	}
	_, err := chdb.FindLibrary(db.cfg.Library)
	return err
}

// Run keeps the embedded engine running until ctx ends. It starts the child process, restarts the child when it
// dies or hangs, and stops the child at the end. With Config.Share it prefers an engine that already runs. With a
// DSN there is no engine, and Run only waits for the end of ctx.
//
// Run returns nil when ctx ends. An error means that no restart would help: the library is missing or unsafe, or
// another service has locked the data directory. Call Run once.
func (db *DB) Run(ctx context.Context) error {
	defer func() { _ = errors.Join(db.conn.Close(), db.reserved.Close()) }()
	if !db.Embedded() {
		<-ctx.Done()
		return nil
	}
	err := db.supervise(ctx)
	if err == nil {
		db.endpoint.fail(errors.New("the engine was stopped"))
	} else {
		db.endpoint.fail(err)
	}
	return err
}

// readyPause is the time between two checks whether ClickHouse answers.
const readyPause = 200 * time.Millisecond

const (
	// logPause is the time between two log lines about a server that does not answer.
	logPause = 10 * time.Second
	// commandTimeout is how long a command waits for the server, unless Config.ReadyTimeout is set.
	commandTimeout = 20 * time.Second
)

// Ready waits until ClickHouse answers. If ctx ends first, or a command has waited Config.ReadyTimeout for a server, it
// returns the error of the last attempt. It fails at once if the embedded engine was stopped or cannot run.
func (db *DB) Ready(ctx context.Context) error {
	if db.cfg.Share && !db.Embedded() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cmp.Or(db.cfg.ReadyTimeout, commandTimeout))
		defer cancel()
	}
	tick := time.NewTicker(readyPause)
	defer tick.Stop()
	var logged time.Time
	var last error
	for {
		err := explainUntrusted(db.ready(ctx))
		if _, gone := errors.AsType[*stoppedError](err); err == nil || gone {
			return err
		}
		if ctx.Err() == nil || last == nil { // the last error is more helpful than a timeout
			last = err
		}
		if now := time.Now(); !db.Embedded() && now.After(logged.Add(logPause)) {
			db.log.WarnContext(ctx, "waiting for ClickHouse", "clickhouse", db.cfg.DSN.String(), "error", err)
			logged = now
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
		if _, err := db.endpoint.wait(ctx); err != nil {
			return err
		}
	}
	return db.conn.Ping(ctx)
}

// Version returns the version of ClickHouse, such as 26.7.2.1.
func (db *DB) Version(ctx context.Context) (string, error) {
	var version string
	if err := db.conn.QueryRow(ctx, "SELECT version()").Scan(&version); err != nil {
		return "", fmt.Errorf("asking ClickHouse for its version: %w", err)
	}
	return version, nil
}

// Holder returns the process that has locked the embedded engine's data directory. If there is none, `ok` is false.
func (db *DB) Holder() (h embedded.Holder, ok bool) {
	if !db.Embedded() {
		return embedded.Holder{}, false
	}
	return embedded.FindHolder(db.cfg.Data)
}
