package sqlstore

import (
	"context"
	"errors"
	"os"
	"time"

	"vayu/internal/sqlstore/connection"
)

const (
	// maxWAL is the largest size of the write-ahead log (WAL) that is kept on disk, in bytes. SQLite
	// checkpoints the WAL every 1,000 pages (4 MB). The WAL grows larger only while a reader uses an old
	// snapshot, or while reads overlap without a gap.
	maxWAL = 64 << 20
	// walPause is the time between two checks of the WAL's size.
	walPause = time.Second
	// walBusy is how long a checkpoint waits for readers, in milliseconds; the next check retries.
	walBusy = "100"
)

// wal limits the size of the write-ahead log.
type wal struct {
	path      string
	maxBytes  int64
	nextCheck time.Time
}

// bound truncates the write-ahead log if it is larger than maxBytes. It checks the size once per walPause. Without
// bound, the log would grow while reads overlap without a gap, because SQLite cannot restart the log then.
func (w *wal) bound(ctx context.Context, writer *connection.Prepared) (err error) {
	now := time.Now()
	if now.Before(w.nextCheck) || writer == nil {
		return nil
	}
	w.nextCheck = now.Add(walPause)
	info, err := os.Stat(w.path)
	if err != nil || info.Size() <= w.maxBytes {
		return err
	}
	exec := func(statement string) error {
		_, err := writer.Unprepared().ExecContext(ctx, statement)
		return err
	}
	if err := exec("PRAGMA busy_timeout = " + walBusy); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, exec("PRAGMA busy_timeout = "+busyTimeout)) }()
	return exec("PRAGMA wal_checkpoint(TRUNCATE)") // if readers block it, the next check retries
}
