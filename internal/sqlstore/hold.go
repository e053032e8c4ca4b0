package sqlstore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vayu/internal/filelock"
)

// Names inside the data directory.
const (
	fileName    = "state.db"
	lockName    = "state.lock"      // held by the service; tells who
	migrateName = "state.migration" // held by whoever looks whether to migrate
)

const (
	// holdPatience outlives the instant for which a command looks at the lock.
	holdPatience = time.Second
	// migratePatience is how long another process may take to migrate.
	migratePatience = time.Minute
)

// claim takes the data directory for this process, and then calls migrate when
// the tables are this process's business: not for a command beside a running
// service. Whoever calls migrate has the lock of migrations, so that none races
// with another; the service gets its own lock before it gives that one back, so
// that a command which then finds a service finds its tables ready.
func (s *sqlite) claim(ctx context.Context, migrate func() error, check func(filelock.Holder) error) (err error) {
	turn, err := filelock.Take(ctx, filepath.Join(s.db.cfg.Data, migrateName), migratePatience)
	if err != nil {
		return err
	}
	defer turn.Release()
	if err := turn.Sign(owner(), os.Getppid()); err != nil {
		return err
	}
	path := filepath.Join(s.db.cfg.Data, lockName)
	if s.db.cfg.Share {
		if holder, ok := filelock.Find(path); ok {
			return check(holder)
		}
		return migrate()
	}
	lock, err := filelock.Take(ctx, path, holdPatience)
	if err != nil {
		return err
	}
	s.release = lock.Release // by close, whatever happens from here
	if err := lock.Sign(owner(), os.Getppid()); err != nil {
		return err
	}
	return migrate()
}

// owner is the command that this process runs, such as "vayu serve": its name
// and the first word, for what follows may be secret.
func owner() string {
	name := filepath.Base(os.Args[0])
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		name += " " + os.Args[1]
	}
	return name
}
