package columnar

import "time"

// Impatient makes db take an engine for hung after two pings without an answer within patience.
func Impatient(db *DB, patience time.Duration) {
	db.health = health{every: patience, patience: patience, lost: 2}
}
