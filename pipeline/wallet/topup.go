package wallet

import (
	"fmt"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// giveNew adds to the available balance, like giveAvailable. It creates the wallet if necessary.
const giveNew = `INSERT INTO wallet (account_id, mode, available, held) VALUES ($2, $3, $1, 0)
	ON CONFLICT (account_id, mode) DO UPDATE SET available = wallet.available + excluded.available
	RETURNING available`

// topup credits a payment to an account, and returns the new available balance.
func topup(tx *sqlstore.Tx, now time.Time, o schema.Owner, subject string, amount schema.Paise) (schema.Paise, error) {
	var after schema.Paise
	if err := tx.QueryRow(giveNew, int64(amount), o.Account, o.World.String()).Scan(&after); err != nil {
		return 0, fmt.Errorf("crediting the payment of %s: %w", o.Account, err)
	}
	return after, entry{subject, kindTopup, "", amount}.post(tx, now, o)
}
