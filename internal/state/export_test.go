package state

import "database/sql"

// WALMost is the bound of the write-ahead log.
const WALMost = walMost

// Waiting is how many changes wait for the writer of SQLite.
func (db *DB) Waiting() int { return len(db.engine.(*sqlite).queue) }

// Pool is what reads.
func (db *DB) Pool() *sql.DB { return db.engine.reader() }

// LookAtWAL makes the writer look at its log after the next commit.
func (db *DB) LookAtWAL() { db.engine.(*sqlite).wal.next = db.engine.(*sqlite).wal.next.Add(-walPause) }
