package quota

import "vayu/internal/sqlstore"

var (
	addUsage = sqlstore.NewBatchStatement(0, "INSERT INTO usage_day (account_id, mode, day, operation, calls, failed, counted) VALUES ",
		"(?, ?, ?, ?, ?, ?, ?)",
		" ON CONFLICT (account_id, mode, day, operation) DO UPDATE SET calls = usage_day.calls + excluded.calls, failed = usage_day.failed + excluded.failed, counted = usage_day.counted + excluded.counted")
	addKeyUsage = sqlstore.NewBatchStatement(0, "INSERT INTO usage_key_day (account_id, mode, day, key_id, operation, calls, failed, counted, expires_at) VALUES ",
		"(?, ?, ?, ?, ?, ?, ?, ?, ?)",
		" ON CONFLICT (account_id, mode, day, key_id, operation) DO UPDATE SET calls = usage_key_day.calls + excluded.calls, failed = usage_key_day.failed + excluded.failed, counted = usage_key_day.counted + excluded.counted")
	addQuota = sqlstore.NewBatchStatement(0, "INSERT INTO quota_period (account_id, period, used, changed_at) VALUES ",
		"(?, ?, ?, ?)",
		" ON CONFLICT (account_id, period) DO UPDATE SET used = quota_period.used + excluded.used, changed_at = excluded.changed_at RETURNING account_id, period, used, warned_at IS NOT NULL, exceeded_at IS NOT NULL")
	setKeyUse = sqlstore.NewBatchStatement(0, "INSERT INTO api_key_use (key_id, used_at) VALUES ",
		"(?, ?)",
		" ON CONFLICT (key_id) DO UPDATE SET used_at = excluded.used_at WHERE excluded.used_at > api_key_use.used_at")
)

// upsert runs a statement for all rows. Unless `do` is nil, it calls `do` for every row that the statement returns.
func upsert(tx *sqlstore.Tx, statement *sqlstore.BatchStatement, rows [][]any, do func(sqlstore.Scanner) error) error {
	return statement.Each(len(rows), func(text string, from, to int) error {
		var args []any
		for _, row := range rows[from:to] {
			args = append(args, row...)
		}
		if do != nil {
			return sqlstore.Each(tx, do, text, args...)
		}
		_, err := tx.Exec(text, args...)
		return err
	})
}
