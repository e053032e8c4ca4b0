package server

import (
	"context"
	"database/sql"
	"log/slog"
	"time"
)

// analyzeInterval is the time between two looks at the sizes of the tables. A look takes a millisecond of the server.
const analyzeInterval = time.Second

// grownTables selects the names of the tables that have grown to more than four times their pages at the last ANALYZE
// or VACUUM. A table without either counts as one page.
const grownTables = `SELECT coalesce(string_agg(format('%I', c.relname), ', '), '') FROM pg_class c
	JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
	WHERE c.relkind = 'r' AND pg_relation_size(c.oid) > 4 * current_setting('block_size')::bigint * greatest(c.relpages, 1)`

// AnalyzeGrown updates the statistics of tables that grow fast, until ctx ends. The function commits returns how many
// changes this process has committed; while it returns the same number, AnalyzeGrown does nothing.
//
// Without statistics the planner takes the index of an account for as selective as the unique index of a row, and reads
// all rows of the account. Autovacuum updates them after a minute or later (decision 104).
func AnalyzeGrown(ctx context.Context, pool *sql.DB, commits func() uint64, log *slog.Logger) {
	tick := time.NewTicker(analyzeInterval)
	defer tick.Stop()
	for seen := uint64(0); ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now := commits()
		if now == seen {
			continue
		}
		seen = now
		if err := analyze(ctx, pool); err != nil && ctx.Err() == nil {
			log.Warn("the statistics of grown tables were not updated", "error", err)
		}
	}
}

// analyze runs ANALYZE on the tables of grownTables. It skips tables that another session analyzes or vacuums.
func analyze(ctx context.Context, pool *sql.DB) error {
	var names string
	if err := pool.QueryRowContext(ctx, grownTables).Scan(&names); err != nil || names == "" {
		return err
	}
	_, err := pool.ExecContext(ctx, "ANALYZE (SKIP_LOCKED) "+names) //nolint:gosec // the server has quoted the names
	return err
}
