package sqlstore

import (
	"context"
	"errors"
	"os"
	"time"
)

const (
	// walMost is what the write-ahead log may keep on disk, in bytes. SQLite moves
	// it into the file every 1,000 pages (4 MB); it grows beyond that only while a
	// reader looks at an old state, or when readers never pause.
	walMost = 64 << 20
	// walPause is the time between two looks at its size.
	walPause = time.Second
	// walBusy is how long the writer waits for readers then, in milliseconds; the
	// next look tries again.
	walBusy = "100"
)

// wal keeps the write-ahead log bounded.
type wal struct {
	path string
	most int64     // bytes
	next time.Time // of the next look
}

// bound empties the log when it has grown too long: without this, readers that
// overlap without end would keep SQLite from ever starting it anew.
func (w *wal) bound(ctx context.Context, writer *statements) (err error) {
	now := time.Now()
	if now.Before(w.next) || writer == nil {
		return nil
	}
	w.next = now.Add(walPause)
	info, err := os.Stat(w.path)
	if err != nil || info.Size() <= w.most {
		return err
	}
	exec := func(statement string) error {
		_, err := writer.conn.ExecContext(ctx, statement)
		return err
	}
	if err := exec("PRAGMA busy_timeout = " + walBusy); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, exec("PRAGMA busy_timeout = "+busyTimeout)) }()
	return exec("PRAGMA wal_checkpoint(TRUNCATE)") // says that readers were in the way in its row; the next look tells
}
