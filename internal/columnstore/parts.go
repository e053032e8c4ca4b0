package columnstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vayu/internal/columnstore/embedded/chdb"
)

const (
	brokenParts = `SELECT toUInt64(count()), any(concat(database, '.', table, ' ', name)) FROM system.detached_parts
WHERE startsWith(database, 'vayu') AND startsWith(reason, 'broken')`
	fileErrors = `SELECT toUInt64(count()), argMax(concat(name, ' ', extract(last_error_message, '/store/[^ :,]+')), last_error_time)
FROM system.errors WHERE code IN (` + chdb.FileCodes + `) AND last_error_message LIKE '%/store/%' AND last_error_time > now() - 600`
)

// CheckParts returns an error if the embedded engine has set parts of Vayu's tables aside because they are corrupt, or
// if it could not read or write a file in the last ten minutes. The error has the remedy.
func (db *DB) CheckParts(ctx context.Context) error {
	if !db.Embedded() {
		return nil
	}
	for _, c := range [...]struct{ query, text string }{
		{brokenParts, "%d corrupt parts are set aside, and their rows are missing: %s"}, {fileErrors, "%d kinds of errors of files in the last ten minutes, such as %s"},
	} {
		var count uint64
		var example string
		if err := db.conn.QueryRow(ctx, c.query).Scan(&count, &example); err != nil {
			return fmt.Errorf("checking the parts of the tables: %w", err)
		}
		if count > 0 {
			return errors.New(fmt.Sprintf(c.text, count, example) + chdb.FileRemedy)
		}
	}
	return nil
}

// logParts logs the error of CheckParts, because the engine starts even if it has set parts aside and lacks their rows.
func (db *DB) logParts(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := db.CheckParts(ctx); err != nil {
		db.log.ErrorContext(ctx, "the tables of the ClickHouse engine are incomplete", "error", err)
	}
}
