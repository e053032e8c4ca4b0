package access

import "vayu/internal/encryption"

// signingSecret is the column of the secret with which a client signs the requests of a key.
var signingSecret = encryption.Column{
	Table: "api_key", Name: "signing_secret", Key: []string{"id"},
	AssociatedData: func(key ...string) string { return "api_key.signing_secret:" + key[0] },
}

// storedReply is the column of the reply to a call with an Idempotency-Key. The associated data is unambiguous,
// because ids and modes contain no slash.
var storedReply = encryption.Column{
	Table: "idempotent_reply", Name: "body", Key: []string{"account_id", "mode", "key"},
	AssociatedData: func(key ...string) string {
		return "idempotent_reply.body:" + key[0] + "/" + key[1] + "/" + key[2]
	},
}

// EncryptedColumns returns the columns that this package encrypts.
func EncryptedColumns() []encryption.Column { return []encryption.Column{signingSecret, storedReply} }
