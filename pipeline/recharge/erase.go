package recharge

import "vayu/internal/sqlstore"

const erasedNumber = "X"

// Personal describes the personal data that is erased with an account: numbers, the client's
// references and the reasons of refunds. The ledger needs the rest of a recharge.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{{
		Table: "recharge", Key: []string{"id"}, Set: "number = '" + erasedNumber + "', number_digest = '', ref_id = id, refund_reason = ''",
		From: "recharge t WHERE t.account_id = $1 AND (t.number <> '" + erasedNumber + "' OR t.number_digest IS NULL OR t.number_digest <> '' OR t.ref_id <> t.id OR t.refund_reason <> '')",
	}}
}
