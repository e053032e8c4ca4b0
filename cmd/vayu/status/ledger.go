package status

import (
	"context"

	"vayu/internal/sqlstore"
	"vayu/pipeline/wallet"
)

// CheckLedgers checks the ledgers (bookkeeping accounts) of the API account with an id. If id is "", it checks all API
// accounts. It also checks that transactions in a final state have their audit rows.
func CheckLedgers(ctx context.Context, db *sqlstore.DB, id string) (wallet.Report, error) {
	r, err := wallet.Verify(ctx, db, id)
	if err != nil {
		return r, err
	}
	audited, err := wallet.VerifyAuditLog(ctx, db, id)
	r.FaultCount += audited.FaultCount
	r.Faults = append(r.Faults, audited.Faults...)
	return r, err
}
