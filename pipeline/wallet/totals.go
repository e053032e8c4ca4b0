package wallet

import (
	"fmt"

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// totalsMost is the maximum number of entries for which the totals of a statement are complete.
const totalsMost = 100_000

// entryTotals are the sums of all entries that match the filter of a statement, on all pages.
type entryTotals struct {
	Complete  bool         `json:"complete"` // false if entries beyond totalsMost are missing
	Count     int64        `json:"count"`
	Available schema.Paise `json:"available"`
	Held      schema.Paise `json:"held"`
}

// addTotals adds the totals of a statement to its first page, which `query` selects. It overwrites args[7], the limit.
func (s *Service) addTotals(c *httpapi.Call, reply *httpapi.Response, query string, args []any) error {
	const begin = `SELECT COUNT(*), CAST(COALESCE(SUM(CASE WHEN ledger = 'held' THEN 0 ELSE amount END), 0) AS BIGINT),
		CAST(COALESCE(SUM(CASE WHEN ledger = 'held' THEN amount WHEN kind IN ('` + kindReserve + `', '` + kindRelease + `') THEN -amount ELSE 0 END), 0) AS BIGINT) FROM (`
	args[7] = totalsMost + 1 // the limit
	totals, _, err := sqlstore.One(s.DB.View(c.Context()), func(row sqlstore.Scanner) (t entryTotals, err error) {
		err = row.Scan(&t.Count, &t.Available, &t.Held)
		return t, err
	}, begin+query+") matching", args...)
	if err != nil {
		return fmt.Errorf("adding up the entries of a wallet: %w", err)
	}
	totals.Complete = totals.Count <= totalsMost
	reply.Value = struct {
		schema.List[schema.WalletEntry]
		Totals entryTotals `json:"totals"`
	}{reply.Value.(schema.List[schema.WalletEntry]), totals}
	return nil
}
