package access

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"
	"time"

	"vayu/internal/access/account"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

func TestLockSerializesAccountCreation(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, mine, theirs *sqlstore.DB) {
		// Both hold or await the lock before either reads. The second finds the first one's
		// account.
		var made, found int
		var mu sync.Mutex
		var all sync.WaitGroup
		for i := range 8 {
			db := [...]*sqlstore.DB{mine, theirs}[i%2]
			all.Go(func() {
				var isNew bool
				err := db.Update(context.Background(), func(tx *sqlstore.Tx) error {
					isNew = false
					if err := account.Lock(tx); err != nil {
						return err
					}
					_, err := account.ByName(tx, "default")
					if message, ok := errors.AsType[*schema.Problem](err); !ok || message.Code != schema.NotFound {
						return err
					}
					isNew = true
					_, _, err = account.Create(tx, map[string]int64{"free": 1}, "default", "free", time.Now())
					return err
				})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if isNew {
					made++
				} else {
					found++
				}
			})
		}
		all.Wait()
		if made != 1 || found != 7 {
			t.Errorf("%d made the account and %d found it, want 1 and 7", made, found)
		}
	})
}

func TestTheLockFailsWithItsStore(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, mine, _ *sqlstore.DB) {
		sqlstoretest.Exec(t, mine, "DROP TABLE access_revision")
		if err := mine.Update(context.Background(), account.Lock); err == nil || errors.Is(err, sql.ErrNoRows) {
			t.Errorf("got %v", err)
		}
	})
}
