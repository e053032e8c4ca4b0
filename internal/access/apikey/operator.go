package apikey

import (
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Operators returns the accounts with an active key of a world (live or sandbox) that has the scope sources:read.
func Operators(tx *sqlstore.Tx, world schema.World, now time.Time) ([]string, error) {
	return sqlstore.All(tx, func(row sqlstore.Scanner) (account string, err error) {
		err = row.Scan(&account)
		return account, err
	}, `SELECT DISTINCT account_id FROM api_key WHERE mode = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)
		AND ' ' || scopes || ' ' LIKE $3 ORDER BY account_id`, world.String(), now.UnixMicro(), "% "+string(schema.SourcesRead)+" %")
}
