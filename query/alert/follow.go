package alert

import (
	"context"
	"fmt"

	"vayu/internal/sqlstore"
)

// pageRows is the number of rows that one query of a full read returns.
const pageRows = 2000

// Revision returns how many changes accounts have made to alerts.
func Revision(ctx context.Context, db *sqlstore.DB) (n int64, err error) {
	if err = db.View(ctx).QueryRow("SELECT n FROM alert_revision WHERE id = 1").Scan(&n); err != nil {
		return 0, fmt.Errorf("reading the revision of alerts: %w", err)
	}
	return n, nil
}

// Since calls `take` for each alert that accounts have changed after a revision, including deleted and invalid
// alerts. With a negative revision, it calls `take` for all alerts that are not deleted, page by page.
func Since(ctx context.Context, db *sqlstore.DB, revision int64, take func(*Alert)) error {
	if revision >= 0 {
		rows, err := sqlstore.All(db.View(ctx), scanAny, selectAlert+" WHERE revision > $1 ORDER BY revision", revision)
		if err != nil {
			return fmt.Errorf("reading changed alerts: %w", err)
		}
		for _, a := range rows {
			take(a)
		}
		return nil
	}
	for after := ""; ; {
		rows, err := sqlstore.All(db.View(ctx), scanAny, selectAlert+" WHERE id > $1 AND deleted_at IS NULL ORDER BY id LIMIT $2", after, pageRows)
		if err != nil {
			return fmt.Errorf("reading alerts: %w", err)
		}
		for _, a := range rows {
			take(a)
			after = a.ID
		}
		if len(rows) < pageRows {
			return nil
		}
	}
}

// Read returns an alert, which may be invalid (see Alert.Fault); nil if it no longer exists.
func Read(ctx context.Context, db *sqlstore.DB, id string) (*Alert, error) {
	a, _, err := sqlstore.One(db.View(ctx), scanAny, selectAlert+" WHERE id = $1", id)
	if err != nil {
		return nil, fmt.Errorf("reading alert %q: %w", id, err)
	}
	return a, nil
}
