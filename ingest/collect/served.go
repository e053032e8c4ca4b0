package collect

import (
	"context"
	"path/filepath"

	"vayu/internal/filelock"
	"vayu/internal/share"
	"vayu/internal/sqlstore"
)

// Served reports whether a running service collects, and therefore works on backfills. On SQLite, it reports whether a
// process has locked the data directory `data`. `local` has the meaning of [Config.Local].
func Served(ctx context.Context, db *sqlstore.DB, data, local string) (bool, error) {
	if db.Name() == "sqlite" {
		_, locked := filelock.Find(filepath.Join(data, sqlstore.LockName))
		return locked, nil
	}
	n, err := share.Members(ctx, db, Group, local)
	return n > 0, err
}
