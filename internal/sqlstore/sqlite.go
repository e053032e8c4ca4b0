package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/pressly/goose/v3"
	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"vayu/internal/filelock"
	"vayu/internal/sqlstore/connection"
	"vayu/internal/sqlstore/migration"
)

// sqlite is the engine for a store in a SQLite file.
type sqlite struct {
	db      *DB
	path    string
	queue   chan *change // changes of the live world and of the service itself
	sandbox chan *change
	writing *sql.DB              // pool with one connection
	writer  *connection.Prepared // the connection of the pool `writing`; nil while disconnected
	readers *sql.DB
	release func() // releases the lock of the directory
	wal     connection.WAL
}

func (s *sqlite) open(ctx context.Context) (err error) {
	if err := os.MkdirAll(s.db.cfg.Data, 0o700); err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	s.path = filepath.Join(s.db.cfg.Data, fileName)
	s.wal = connection.WAL{Path: s.path + "-wal", MaxBytes: connection.MaxWAL, BusyTimeout: busyTimeout}
	if err := createPrivate(s.path); err != nil {
		return err
	}
	if s.writing, err = sql.Open("sqlite", sqliteDSN(s.path, "_txlock=immediate")); err != nil {
		return err
	}
	s.writing.SetMaxOpenConns(1)
	if err := s.acquireDirectory(ctx,
		func() error {
			if err := migration.Apply(ctx, goose.DialectSQLite3, s.writing, s.db.cfg.Version); err != nil {
				return fmt.Errorf("%s: %w", s.path, err)
			}
			return nil
		},
		func(holder filelock.Holder) error { return s.checkVersion(ctx, holder) }); err != nil {
		return err
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	if s.readers, err = sql.Open("sqlite", sqliteDSN(s.path, "_pragma=query_only(1)")); err != nil {
		return err
	}
	s.readers.SetMaxOpenConns(s.db.cfg.Settings.Connections)
	s.readers.SetMaxIdleConns(s.db.cfg.Settings.Connections)
	return nil
}

// createPrivate creates the file at path before SQLite opens it, readable by its owner only. SQLite then gives its
// other files the same mode. If the file exists, createPrivate changes only its mode, and does not open it:
// closing the file would release this process's POSIX locks on it.
func createPrivate(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrExist) {
		return os.Chmod(path, 0o600)
	}
	if err != nil {
		return fmt.Errorf("making the state store: %w", err)
	}
	return file.Close()
}

// checkVersion fails unless the tables have this program's version. The error names `holder`, the running service.
func (s *sqlite) checkVersion(ctx context.Context, holder filelock.Holder) error {
	known, err := migration.Newest(goose.DialectSQLite3, s.writing)
	if err != nil {
		return err
	}
	at, err := migration.Version(ctx, s.writing)
	if err != nil {
		return err
	}
	if at != known {
		return fmt.Errorf("the service that runs here is of another version: its state store is at version %d, and this program's is %d; it is %s",
			at, known, holder)
	}
	return nil
}

// busyTimeout is how long a statement waits for another process's lock, in milliseconds. A longer wait would be
// useless, because no client waits so long for a reply.
const busyTimeout = "10000"

// sqliteDSN returns the DSN of a SQLite file. The settings have these effects. A commit is durable when it returns
// (synchronous FULL). Readers and the writer do not block each other (WAL). A statement waits while another process has
// the write lock (busy_timeout). Temporary files, such as the journal of savepoints, are in memory. On disk, that
// journal took a quarter of the writer's time. It need not survive a crash, which rolls the whole transaction back.
func sqliteDSN(path string, more ...string) string {
	settings := append([]string{
		"_pragma=busy_timeout(" + busyTimeout + ")", "_pragma=journal_mode(WAL)", "_pragma=synchronous(FULL)", "_pragma=foreign_keys(1)",
		"_pragma=temp_store(MEMORY)",
		fmt.Sprintf("_pragma=journal_size_limit(%d)", connection.MaxWAL), "_dqs=0",
	}, more...)
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: strings.Join(settings, "&")}).String()
}

// connect opens the only connection that writes.
func (s *sqlite) connect(ctx context.Context) error {
	conn, err := s.writing.Conn(ctx)
	if err != nil {
		return err
	}
	s.writer = connection.NewPrepared(conn)
	return nil
}

// disconnect closes the writer's connection, whose state is unknown. The next group of changes opens a new one.
func (s *sqlite) disconnect() {
	s.writer.Discard()
	s.writer = nil
}

func (s *sqlite) reader() *sql.DB { return s.readers }

func (s *sqlite) close() {
	if s.readers != nil {
		_ = s.readers.Close()
	}
	if s.writer != nil {
		s.writer.Close()
	}
	if s.writing != nil {
		_ = s.writing.Close()
	}
	if s.release != nil {
		s.release()
	}
}

// sqliteFaults are the result codes for an unusable store: a lock, no memory, or a fault of the file or disk
// (sqlite.org/rescode.html). An extended result code has one of them in its low byte.
var sqliteFaults = map[int]bool{
	lib.SQLITE_BUSY: true, lib.SQLITE_LOCKED: true, lib.SQLITE_NOMEM: true, lib.SQLITE_READONLY: true,
	lib.SQLITE_IOERR: true, lib.SQLITE_FULL: true, lib.SQLITE_CANTOPEN: true, lib.SQLITE_CORRUPT: true,
	lib.SQLITE_PROTOCOL: true, lib.SQLITE_NOTADB: true,
}

func (s *sqlite) fault(err error) fault {
	var stated *driver.Error
	if errors.Is(err, errGroup) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &stated) && sqliteFaults[stated.Code()&0xff] {
		return faultStore
	}
	return faultStatement
}
