package wallet

import "vayu/internal/sqlstore"

// Personal lists the personal data of an account: the references that the client gave to payments.
// Amounts, postings and the references of bank transfers belong to the ledger, so they are not
// erased.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{{
		Table: "payment", Key: []string{"id"}, Set: "ref_id = NULL", From: "payment t WHERE t.account_id = $1 AND t.ref_id IS NOT NULL",
	}}
}
