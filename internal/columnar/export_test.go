package columnar

import (
	"context"
	"time"
)

// Impatient makes db take an engine for hung after two pings without an answer within patience.
func Impatient(db *DB, patience time.Duration) {
	db.health = health{every: patience, patience: patience, lost: 2}
}

// Once starts or follows one engine until it ends or ctx does.
func Once(ctx context.Context, db *DB) error { return db.once(ctx) }
