package wallet

import (
	"context"

	"vayu/internal/state"
)

// VerifyAudited checks that each recharge, payment and verification that is final has
// the row of the audit log that its change wrote, of one account when its id is given.
// The report has faults only. The error is as with [Verify].
func VerifyAudited(ctx context.Context, db *state.DB, account string) (Report, error) {
	v := verifier{view: db.View(ctx)}
	err := v.each(account, v.audited)
	return v.report, err
}

// selectUnaudited compares two sets, which both engines sort on disk where memory does
// not hold them: the audit log has no index of subjects.
const selectUnaudited = `
	SELECT id, 'recharge.' || state FROM recharge WHERE account_id = $1 AND mode = $2 AND state <> 'pending'
	UNION ALL SELECT id, 'payment.' || state FROM payment WHERE account_id = $1 AND mode = $2 AND state <> 'pending'
	UNION ALL SELECT id, 'verification.' || state FROM verification WHERE account_id = $1 AND mode = $2 AND state <> 'pending'
	EXCEPT SELECT subject, action FROM audit WHERE account_id = $1 AND mode = $2 AND action IN ('recharge.success', 'recharge.failed',
		'recharge.refunded', 'payment.success', 'payment.failed', 'verification.success', 'verification.failed')`

// audited compares what is final in a world of an account with its audit log, as of one
// moment.
func (v *verifier) audited() error {
	return state.Each(v.view, func(row state.Scanner) error {
		var subject, action string
		if err := row.Scan(&subject, &action); err != nil {
			return err
		}
		v.wrongf(subject, "the audit log has no row %s of it", action)
		return nil
	}, selectUnaudited, v.owner.Account, v.owner.World.String())
}
