package columnstore

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"vayu/internal/columnstore/embedded"
)

// SetHangTimeout makes db treat an engine as hung after two pings without an answer within timeout.
func SetHangTimeout(db *DB, timeout time.Duration) {
	db.health = health{every: timeout, timeout: timeout, maxMissed: 2}
}

// Once supervises one engine until it ends or ctx does.
func Once(ctx context.Context, db *DB) error { return db.once(ctx) }

// Code is ClickHouse's error code in err; ok is false when err did not come from ClickHouse.
func Code(err error) (code int32, ok bool) {
	if e, ok := errors.AsType[*clickhouse.Exception](err); ok {
		return e.Code, true
	}
	return 0, false
}

// Through is db with wrapped connections.
func Through(db *DB, wrap func(driver.Conn) driver.Conn) *DB {
	other := *db
	other.conn = wrap(db.conn)
	return &other
}

// ParseManifest reads the text of a backup's manifest.
func ParseManifest(text []byte) (m Manifest, err error) {
	if err := json.Unmarshal(text, &m); err != nil {
		return m, err
	}
	return m, m.validate()
}

// SetStorage changes the storage settings of db.
func SetStorage(db *DB, s Storage) { db.cfg.Storage = s }

// TransientCodes are the transient errors of ClickHouse, by number.
func TransientCodes() map[int32]string { return transientCodes }

// NewHandshakeConn is a connection whose handshake ends with ctx.
func NewHandshakeConn(ctx context.Context, conn net.Conn) net.Conn {
	return newHandshakeConn(ctx, conn)
}

// Report is what a child reports about its start.
type Report = embedded.Report

// EndsRun reports whether a start that failed with this report ends Run of db.
func EndsRun(db *DB, report Report) bool {
	_, ends := errors.AsType[*stoppedError](db.startError(report))
	return ends
}
