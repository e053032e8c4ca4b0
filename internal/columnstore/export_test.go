package columnstore

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	clickhouse "github.com/ClickHouse/clickhouse-go/v2"

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

// TransientCodes are the transient errors of ClickHouse.
func TransientCodes() []proto.Error { return transientCodes }

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
