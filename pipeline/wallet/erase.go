package wallet

import "vayu/internal/sqlstore"

// Personal lists the data that is erased with an account: the client's references of payments.
// The rest of a payment, such as the note with a bank's reference, belongs to the ledger.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{{
		Table: "payment", Key: []string{"id"}, Set: "ref_id = NULL", From: "payment t WHERE t.account_id = $1 AND t.ref_id IS NOT NULL",
	}}
}
