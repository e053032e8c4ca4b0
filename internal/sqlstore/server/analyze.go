package server

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"vayu/internal/sleep"
)

const (
	// analyzeInterval is the time between two checks of the sizes of the tables. A check takes a millisecond of the server.
	analyzeInterval = time.Second
	analyzePause    = time.Minute // delay of the retry after a failed check or ANALYZE
)

// grownTables selects the names of the role's tables that have more than four times the pages that they had at the last
// ANALYZE or VACUUM. If a table was never analyzed or vacuumed, it is selected when it has more than four pages.
const grownTables = `SELECT coalesce(string_agg(format('%I', c.relname), ', '), '') FROM pg_class c
	WHERE c.relkind = 'r' AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
	AND pg_has_role(c.relowner, 'USAGE')
	AND pg_relation_size(c.oid) > 4 * current_setting('block_size')::bigint * greatest(c.relpages, 1)`

// AnalyzeGrown updates the statistics of tables that grow fast, until ctx ends. It does nothing while this process
// commits no transaction; the function `commits` returns their number. Without statistics, the planner estimates that
// the index of an account is as selective as the unique index of a row. A query then reads all rows of the account.
// Autovacuum would update the statistics only after a minute or later (docs/decisions, 104).
func AnalyzeGrown(ctx context.Context, pool *sql.DB, timeout time.Duration, commits func() uint64, log *slog.Logger) {
	for seen := uint64(0); sleep.For(ctx, analyzeInterval); {
		now := commits()
		if now == seen {
			continue
		}
		if err := analyze(ctx, pool, timeout); err != nil && ctx.Err() == nil {
			log.Warn("the statistics of grown tables were not updated; repeating in a minute", "error", err)
			sleep.For(ctx, analyzePause)
			continue
		}
		seen = now
	}
}

// analyze runs ANALYZE on the tables of grownTables. It skips tables that another session analyzes or vacuums.
func analyze(ctx context.Context, pool *sql.DB, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var names string
	if err := pool.QueryRowContext(ctx, grownTables).Scan(&names); err != nil || names == "" {
		return err
	}
	if _, err := pool.ExecContext(ctx, "ANALYZE (SKIP_LOCKED) "+names); err != nil {
		return fmt.Errorf("analyzing %s: %w", names, err)
	}
	return nil
}
