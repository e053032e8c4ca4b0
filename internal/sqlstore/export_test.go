package sqlstore

import (
	"context"
	"database/sql"
	"time"
)

// Waiting is how many changes wait for the writer of SQLite.
func (db *DB) Waiting() int {
	s := db.engine.(*sqlite)
	return len(s.queue) + len(s.sandbox)
}

// Pool is what reads.
func (db *DB) Pool() *sql.DB { return db.engine.reader() }

// BoundWAL makes the writer look at its log after the next commit, and keep it
// below so many bytes. It is called inside a change.
func (db *DB) BoundWAL(most int64) {
	db.engine.(*sqlite).wal.most = most
	db.engine.(*sqlite).wal.next = time.Time{}
}

// CheckpointNow empties the log. Inside a change, where it is called, that fails.
func (db *DB) CheckpointNow(ctx context.Context) error {
	s := db.engine.(*sqlite)
	db.BoundWAL(0)
	defer db.BoundWAL(walMost)
	return s.wal.bound(ctx, s.writer)
}

// SetAnswer sets how long an answer is waited for. Nothing else may use the
// store meanwhile.
func (db *DB) SetAnswer(limit time.Duration) { db.answer = limit }

// SetAsking sets how long it is asked what became of a change. Nothing else may
// use the store meanwhile.
func (db *DB) SetAsking(limit time.Duration) { db.asking = limit }

// Sweep deletes the proofs of changes that are older.
func (db *DB) Sweep(ctx context.Context, age time.Duration) { db.engine.(*postgres).sweep(ctx, age) }

// Opened does something with a store of an older version.
func Opened(ctx context.Context, cfg Config, version int64, do func(context.Context, *DB) error) error {
	return opened(ctx, cfg, nil, version, do)
}
