package leader

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"vayu/internal/sqlstore"
)

// leaseRow is a lock in a row of the table "leader". Its statements are for PostgreSQL only. They
// use clock_timestamp, the time of the statement. The time of the transaction may be earlier,
// because the transaction may have waited for another transaction.
type leaseRow struct {
	db           *sqlstore.DB
	name, holder string
	lease        time.Duration
}

// ServerNow is a PostgreSQL expression for the time of the database server, in Unix microseconds.
const ServerNow = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"

func (r leaseRow) available(ctx context.Context) (bool, error) {
	var free bool
	err := r.db.View(ctx).QueryRow("SELECT holder = $2 OR until <= "+ServerNow+" FROM leader WHERE name = $1", r.name, r.holder).Scan(&free)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading leader lease %q: %w", r.name, err)
	}
	return free, nil
}

func (r leaseRow) acquire(ctx context.Context) (mine bool, err error) {
	err = r.db.Update(ctx, func(tx *sqlstore.Tx) error {
		n, err := tx.Exec(`
			INSERT INTO leader (name, holder, until) VALUES ($1, $2, `+ServerNow+` + CAST($3 AS BIGINT))
			ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
			WHERE leader.holder = excluded.holder OR leader.until <= `+ServerNow,
			r.name, r.holder, r.lease.Microseconds())
		mine = n == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("acquiring leader lease %q: %w", r.name, err)
	}
	return mine, nil
}

func (r leaseRow) held(ctx context.Context) (mine bool, err error) {
	err = r.db.View(ctx).QueryRow("SELECT EXISTS (SELECT 1 FROM leader WHERE name = $1 AND holder = $2 AND until > "+ServerNow+")", r.name, r.holder).Scan(&mine)
	if err != nil {
		return false, fmt.Errorf("reading leader lease %q: %w", r.name, err)
	}
	return mine, nil
}

func (r leaseRow) release(ctx context.Context) error {
	return r.db.Update(ctx, func(tx *sqlstore.Tx) error {
		_, err := tx.Exec("DELETE FROM leader WHERE name = $1 AND holder = $2", r.name, r.holder)
		return err
	})
}
