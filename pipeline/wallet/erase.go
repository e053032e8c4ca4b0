package wallet

import "vayu/internal/sqlstore"

// Personal lists the personal data of an account: the client's references of payments. The rest,
// such as the references of bank transfers, belongs to the ledger and is not erased.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{{
		Table: "payment", Key: []string{"id"}, Set: "ref_id = NULL", From: "payment t WHERE t.account_id = $1 AND t.ref_id IS NOT NULL",
	}}
}
