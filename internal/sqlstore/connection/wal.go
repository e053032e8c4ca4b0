package connection

import (
	"context"
	"errors"
	"os"
	"time"
)

const (
	// MaxWAL is the largest size of the write-ahead log (WAL) that is kept on disk, in bytes. SQLite
	// checkpoints the WAL every 1,000 pages (4 MB). The WAL grows larger only while a reader uses an old
	// snapshot, or while reads overlap without a gap.
	MaxWAL = 64 << 20
	// walPause is the time between two checks of the WAL's size.
	walPause = time.Second
	// walBusy is how long a checkpoint waits for readers, in milliseconds; the next check retries.
	walBusy = "100"
)

// WAL limits the size of the write-ahead log at Path.
type WAL struct {
	Path      string
	MaxBytes  int64
	NextCheck time.Time
	// BusyTimeout is how long a statement waits for another process's lock, in milliseconds.
	BusyTimeout string
}

// Bound truncates the write-ahead log if it is larger than MaxBytes. It checks the size at most once per walPause.
// Without Bound, the log would grow while reads overlap without a gap, because SQLite cannot restart the log then.
func (w *WAL) Bound(ctx context.Context, writer *Prepared) (err error) {
	now := time.Now()
	if now.Before(w.NextCheck) || writer == nil {
		return nil
	}
	w.NextCheck = now.Add(walPause)
	info, err := os.Stat(w.Path)
	if err != nil || info.Size() <= w.MaxBytes {
		return err
	}
	exec := func(statement string) error {
		_, err := writer.Unprepared().ExecContext(ctx, statement)
		return err
	}
	if err := exec("PRAGMA busy_timeout = " + walBusy); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, exec("PRAGMA busy_timeout = "+w.BusyTimeout)) }()
	return exec("PRAGMA wal_checkpoint(TRUNCATE)") // if readers block it, the next check retries
}
