package sqlstore

import (
	"context"
	"database/sql"
	"time"
)

// QueuedChanges returns how many changes wait for the writer of SQLite.
func (db *DB) QueuedChanges() int {
	s := db.engine.(*sqlite)
	return len(s.queue) + len(s.sandbox)
}

// Pool is the reading pool.
func (db *DB) Pool() *sql.DB { return db.engine.reader() }

// LimitWAL makes the writer check its log after the next commit, and limit it to maxBytes. Call it inside a
// change.
func (db *DB) LimitWAL(maxBytes int64) {
	db.engine.(*sqlite).wal.maxBytes = maxBytes
	db.engine.(*sqlite).wal.nextCheck = time.Time{}
}

// CheckpointNow truncates the log. Inside a change, where it is called, it fails.
func (db *DB) CheckpointNow(ctx context.Context) error {
	s := db.engine.(*sqlite)
	db.LimitWAL(0)
	defer db.LimitWAL(maxWAL)
	return s.wal.bound(ctx, s.writer)
}

// SetAnswerTimeout limits the wait for an answer. It must not run concurrently with other uses of the store.
func (db *DB) SetAnswerTimeout(limit time.Duration) { db.answerTimeout = limit }
