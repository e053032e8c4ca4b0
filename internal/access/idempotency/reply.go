package idempotency

import "vayu/internal/encryption"

// StoredReply is the column of the reply to a call with an Idempotency-Key. Its associated data joins the three columns
// of the primary key with slashes. The joined text is unambiguous, because ids and modes contain no slash.
var StoredReply = encryption.Column{
	Table: "idempotent_reply", Name: "body", Key: []string{"account_id", "mode", "key"},
	AssociatedData: func(key ...string) string {
		return "idempotent_reply.body:" + key[0] + "/" + key[1] + "/" + key[2]
	},
}
