package leader

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"vayu/internal/sqlstore"
)

// row is the seat that a row of table leader is. Its statements are those of
// PostgreSQL alone: on SQLite nobody asks. clock_timestamp is the time of the
// statement and not of its transaction, which may have waited for another.
type row struct {
	db           *sqlstore.DB
	name, holder string
	lease        time.Duration
}

func newRow(c Config) row {
	return row{c.DB, c.Name, rand.Text(), leaseTime}
}

// serverNow is the server's clock in microseconds.
const serverNow = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"

func (r row) free(ctx context.Context) (bool, error) {
	var free bool
	err := r.db.View(ctx).QueryRow("SELECT holder = $2 OR until <= "+serverNow+" FROM leader WHERE name = $1", r.name, r.holder).Scan(&free)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking who leads %q: %w", r.name, err)
	}
	return free, nil
}

func (r row) take(ctx context.Context) (mine bool, err error) {
	err = r.db.Update(ctx, func(tx *sqlstore.Tx) error {
		n, err := tx.Exec(`
			INSERT INTO leader (name, holder, until) VALUES ($1, $2, `+serverNow+` + CAST($3 AS BIGINT))
			ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
			WHERE leader.holder = excluded.holder OR leader.until <= `+serverNow,
			r.name, r.holder, r.lease.Microseconds())
		mine = n == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("asking for the lead of %q: %w", r.name, err)
	}
	return mine, nil
}

func (r row) held(ctx context.Context) (mine bool, err error) {
	err = r.db.View(ctx).QueryRow("SELECT EXISTS (SELECT 1 FROM leader WHERE name = $1 AND holder = $2 AND until > "+serverNow+")", r.name, r.holder).Scan(&mine)
	if err != nil {
		return false, fmt.Errorf("looking who leads %q: %w", r.name, err)
	}
	return mine, nil
}

func (r row) leave(ctx context.Context) error {
	return r.db.Update(ctx, func(tx *sqlstore.Tx) error {
		_, err := tx.Exec("DELETE FROM leader WHERE name = $1 AND holder = $2", r.name, r.holder)
		return err
	})
}
