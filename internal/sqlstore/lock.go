package sqlstore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vayu/internal/filelock"
)

// Names of files in the data directory.
const (
	fileName    = "state.db"
	LockName    = "state.lock"      // locked by a running service; names its process. Commands may test the lock.
	migrateName = "state.migration" // locked while a process migrates the tables, or checks their version
)

const (
	// lockTimeout limits the wait for state.lock. A command that tests the lock releases it at once, so a longer wait
	// means that a service is running.
	lockTimeout = time.Second
	// migrateTimeout limits the wait for another process that is migrating the tables.
	migrateTimeout = time.Minute
)

// acquireDirectory locks the data directory for this process and calls `migrate`. With Config.Share it does not lock
// the directory, and calls `check` instead of `migrate` if a service has locked the directory.
//
// `migrate` runs under the migration lock, so that two migrations cannot race. Every process acquires the migration
// lock first. A service releases it once the tables are migrated. A command that finds a running service therefore
// also finds migrated tables.
func (s *sqlite) acquireDirectory(ctx context.Context, migrate func() error, check func(filelock.Holder) error) (err error) {
	migration, err := filelock.Acquire(ctx, filepath.Join(s.db.cfg.Data, migrateName), migrateTimeout)
	if err != nil {
		return err
	}
	defer migration.Release()
	if err := migration.WriteHolder(filelock.Holder{Owner: owner(), Parent: os.Getppid()}); err != nil {
		return err
	}
	path := filepath.Join(s.db.cfg.Data, LockName)
	if s.db.cfg.Share {
		if holder, ok := filelock.Find(path); ok {
			return check(holder)
		}
		return migrate()
	}
	lock, err := filelock.Acquire(ctx, path, lockTimeout)
	if err != nil {
		return err
	}
	s.release = lock.Release // called by close, also after an error below
	if err := lock.WriteHolder(filelock.Holder{Owner: owner(), Parent: os.Getppid()}); err != nil {
		return err
	}
	return migrate()
}

// owner returns the command of this process, such as "vayu serve". The result has no flags and no arguments after
// the first, because these may be secret.
func owner() string {
	name := filepath.Base(os.Args[0])
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		name += " " + os.Args[1]
	}
	return name
}
