package columnstore

import (
	"context"
	"errors"
	"net"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// SetHangTimeout makes db take an engine for hung after two pings without an answer within patience.
func SetHangTimeout(db *DB, patience time.Duration) {
	db.health = health{every: patience, timeout: patience, maxMissed: 2}
}

// Once starts or follows one engine until it ends or ctx does.
func Once(ctx context.Context, db *DB) error { return db.once(ctx) }

// Code is ClickHouse's error code inside err; ok is false when err did not come from ClickHouse.
func Code(err error) (code int32, ok bool) {
	if e, ok := errors.AsType[*clickhouse.Exception](err); ok {
		return e.Code, true
	}
	return 0, false
}

// Through is db with another way to its connections.
func Through(db *DB, wrap func(driver.Conn) driver.Conn) *DB {
	other := *db
	other.conn = wrap(db.conn)
	return &other
}

// ParseManifest reads the text of a backup's manifest.
func ParseManifest(text []byte) (Manifest, error) { return parseManifest(text) }

// SetStorage changes what the settings of db say of the rows.
func SetStorage(db *DB, s Storage) { db.cfg.Storage = s }

// TransientCodes are the errors of ClickHouse that count as passing, by number.
func TransientCodes() map[int32]string { return transientCodes }

// NewHandshakeConn is a connection that is made while ctx lasts.
func NewHandshakeConn(ctx context.Context, conn net.Conn) net.Conn {
	return newHandshakeConn(ctx, conn)
}
