package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"vayu/internal/sqlstore/connection"
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
	db.engine.(*sqlite).wal.MaxBytes = maxBytes
	db.engine.(*sqlite).wal.NextCheck = time.Time{}
}

// CheckpointNow truncates the log. Inside a change, where it is called, it fails.
func (db *DB) CheckpointNow(ctx context.Context) error {
	s := db.engine.(*sqlite)
	db.LimitWAL(0)
	defer db.LimitWAL(connection.MaxWAL)
	return s.wal.Bound(ctx, s.writer)
}

// SetAnswerTimeout limits the wait for an answer. It must not run concurrently with other uses of the store.
func (db *DB) SetAnswerTimeout(limit time.Duration) { db.answerTimeout = limit }

// WaitingChanges returns how many changes of groups wait for a transaction of PostgreSQL.
func (db *DB) WaitingChanges() (n int) {
	p := db.engine.(*postgres)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, waiting := range p.waiting {
		n += len(waiting)
	}
	return n
}
