package verify

import "vayu/internal/sqlstore"

// Personal lists the personal data of an account: all its verifications.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{
		{
			Table: "upstream_step", Key: []string{"subject", "number"},
			From: "upstream_step t JOIN verification v ON v.id = t.subject WHERE v.account_id = $1",
		},
		{Table: "verification", Key: []string{"id"}, From: "verification t WHERE t.account_id = $1"},
	}
}
