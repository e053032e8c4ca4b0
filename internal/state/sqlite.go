package state

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
)

const (
	// groupMost bounds how many changes share a commit: enough for every caller
	// that can wait at once on two cores, small enough that the first waits a few
	// milliseconds.
	groupMost   = 256
	queueLength = 1024
)

// sqlite is the store in a file.
type sqlite struct {
	db      *DB
	queue   chan *change
	writing *sql.DB   // holds one connection
	writer  *sql.Conn // that connection
	readers *sql.DB
	release func() // gives the directory back
}

// change is one Update that waits for its turn.
type change struct {
	ctx  context.Context //nolint:containedctx // of the caller, while it waits
	do   func(*Tx) error
	err  error
	done chan struct{} // closed when err is final
}

func (s *sqlite) open(ctx context.Context) (err error) {
	dir := s.db.cfg.Data
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	if s.release, err = s.db.hold(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	path := filepath.Join(dir, "state.db")
	if s.writing, err = sql.Open("sqlite", sqliteDSN(path, "_txlock=immediate")); err != nil {
		return err
	}
	s.writing.SetMaxOpenConns(1)
	if err := migrate(ctx, goose.DialectSQLite3, s.writing); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil { // hashes of keys are nobody else's business
		return err
	}
	if s.writer, err = s.writing.Conn(ctx); err != nil {
		return err
	}
	if s.readers, err = sql.Open("sqlite", sqliteDSN(path, "_pragma=query_only(1)")); err != nil {
		return err
	}
	s.readers.SetMaxOpenConns(s.db.cfg.Connections)
	s.readers.SetMaxIdleConns(s.db.cfg.Connections)
	return nil
}

// sqliteDSN: every commit is on disk when it returns (FULL), readers and the
// writer do not wait for each other (WAL), and a command beside the service
// waits for its turn.
func sqliteDSN(path string, more ...string) string {
	settings := append([]string{
		"_pragma=busy_timeout(10000)", "_pragma=journal_mode(WAL)", "_pragma=synchronous(FULL)", "_pragma=foreign_keys(1)",
	}, more...)
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: strings.Join(settings, "&")}).String()
}

func (s *sqlite) reader() *sql.DB { return s.readers }

// run is the one writer: it takes every change that waits and commits them
// together.
func (s *sqlite) run(ctx context.Context) error {
	defer s.close()
	for {
		select {
		case first := <-s.queue:
			s.commit(s.group(first))
		case <-ctx.Done():
			s.refuse()
			return nil
		}
	}
}

// group is first and what waits behind it.
func (s *sqlite) group(first *change) []*change {
	all := []*change{first}
	for len(all) < groupMost {
		select {
		case next := <-s.queue:
			all = append(all, next)
		default:
			return all
		}
	}
	return all
}

// commit makes the changes of one group durable and tells their callers.
func (s *sqlite) commit(all []*change) {
	err := s.transaction(all)
	s.db.metrics.commits.Inc()
	for _, c := range all {
		if c.err == nil {
			c.err = err
		}
		close(c.done)
	}
}

// transaction runs the changes in one transaction. Each has a savepoint, so
// that one that fails is undone alone; its error is in its change. The error
// returned is that of all the others.
func (s *sqlite) transaction(all []*change) error {
	ctx := context.Background() // an interrupt would undo the whole group
	exec := func(statement string) error {
		_, err := s.writer.ExecContext(ctx, statement)
		return err
	}
	if err := exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, c := range all {
		if c.err = c.ctx.Err(); c.err != nil {
			continue
		}
		if err := exec("SAVEPOINT change"); err != nil {
			_ = exec("ROLLBACK")
			return err
		}
		c.err = guarded(c.do, &Tx{ctx, s.writer, s.db})
		if c.err != nil {
			if err := exec("ROLLBACK TO change"); err != nil {
				// SQLite has undone everything (disk full, I/O): nobody's change is there.
				_ = exec("ROLLBACK")
				return errors.Join(c.err, err)
			}
		}
		if err := exec("RELEASE change"); err != nil {
			_ = exec("ROLLBACK")
			return err
		}
	}
	if err := exec("COMMIT"); err != nil {
		_ = exec("ROLLBACK")
		return err
	}
	return nil
}

// panicError carries a panic of a change from the writer to its caller.
type panicError struct{ value any }

func (p *panicError) Error() string { return fmt.Sprintf("panic in a change: %v", p.value) }

func guarded(do func(*Tx) error, tx *Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{p}
		}
	}()
	return do(tx)
}

// errClosed is what callers get while the service stops.
var errClosed = errors.New("the state store is closing")

func (s *sqlite) update(ctx context.Context, do func(*Tx) error) error {
	c := &change{ctx: ctx, do: do, done: make(chan struct{})}
	select {
	case s.queue <- c:
	case <-ctx.Done():
		return ctx.Err()
	}
	<-c.done
	if p, ok := errors.AsType[*panicError](c.err); ok {
		panic(p.value)
	}
	return c.err
}

// refuse ends the changes that still wait when the service stops.
func (s *sqlite) refuse() {
	for {
		select {
		case c := <-s.queue:
			c.err = errClosed
			close(c.done)
		default:
			return
		}
	}
}

func (s *sqlite) close() {
	if s.readers != nil {
		_ = s.readers.Close()
	}
	if s.writer != nil {
		_ = s.writer.Close()
	}
	if s.writing != nil {
		_ = s.writing.Close()
	}
	if s.release != nil {
		s.release()
	}
}

// sqliteFaults are the result codes that say that the file or the disk cannot
// be used now (sqlite.org/rescode.html); the low byte of an extended code is
// the code.
var sqliteFaults = map[int]bool{
	lib.SQLITE_BUSY: true, lib.SQLITE_LOCKED: true, lib.SQLITE_NOMEM: true, lib.SQLITE_READONLY: true,
	lib.SQLITE_IOERR: true, lib.SQLITE_FULL: true, lib.SQLITE_CANTOPEN: true,
}

func (s *sqlite) fault(err error) bool {
	var stated *driver.Error
	return errors.Is(err, errClosed) || errors.As(err, &stated) && sqliteFaults[stated.Code()&0xff]
}
