package sqlstore

import (
	"context"
	"database/sql"
	"time"
)

// QueuedChanges is how many changes wait for the writer of SQLite.
func (db *DB) QueuedChanges() int {
	s := db.engine.(*sqlite)
	return len(s.queue) + len(s.sandbox)
}

// Pool is what reads.
func (db *DB) Pool() *sql.DB { return db.engine.reader() }

// LimitWAL makes the writer look at its log after the next commit, and keep it
// below so many bytes. It is called inside a change.
func (db *DB) LimitWAL(most int64) {
	db.engine.(*sqlite).wal.maxBytes = most
	db.engine.(*sqlite).wal.nextCheck = time.Time{}
}

// CheckpointNow empties the log. Inside a change, where it is called, that fails.
func (db *DB) CheckpointNow(ctx context.Context) error {
	s := db.engine.(*sqlite)
	db.LimitWAL(0)
	defer db.LimitWAL(maxWAL)
	return s.wal.bound(ctx, s.writer)
}

// SetAnswerTimeout sets how long an answer is waited for. Nothing else may use the
// store meanwhile.
func (db *DB) SetAnswerTimeout(limit time.Duration) { db.answerTimeout = limit }

// SetOutcomeTimeout sets how long it is asked what became of a change. Nothing else may
// use the store meanwhile.
func (db *DB) SetOutcomeTimeout(limit time.Duration) { db.outcomeTimeout = limit }

// Sweep deletes the proofs of changes that are older.
func (db *DB) Sweep(ctx context.Context, age time.Duration) { db.engine.(*postgres).sweep(ctx, age) }

// WithStore does something with a store of an older version.
func WithStore(ctx context.Context, cfg Config, version int64, do func(context.Context, *DB) error) error {
	return withStore(ctx, cfg, nil, version, do)
}
