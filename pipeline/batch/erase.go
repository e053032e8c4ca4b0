package batch

import "vayu/internal/sqlstore"

// Personal returns how to erase the personal data of an account: the items of its batches, and
// their ref_ids, fingerprints and client IP addresses.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{
		{
			Table: "batch_item", Key: []string{"batch_id", "place"},
			From: "batch_item t JOIN batch b ON b.id = t.batch_id WHERE b.account_id = $1",
		},
		{
			Table: "batch", Key: []string{"id"}, Set: "ref_id = NULL, client = '', fingerprint = ''",
			From: "batch t WHERE t.account_id = $1 AND (t.ref_id IS NOT NULL OR t.client <> '' OR t.fingerprint <> '')",
		},
	}
}
