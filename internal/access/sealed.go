package access

import "vayu/internal/encryption"

// signingSecret is what the requests of a key are signed with.
var signingSecret = encryption.Column{
	Table: "api_key", Name: "signing_secret", Key: []string{"id"},
	About: func(key ...string) string { return "api_key.signing_secret:" + key[0] },
}

// storedReply is the reply to a call with an Idempotency-Key. Neither ids nor
// modes have a slash.
var storedReply = encryption.Column{
	Table: "idempotent_reply", Name: "body", Key: []string{"account_id", "mode", "key"},
	About: func(key ...string) string {
		return "idempotent_reply.body:" + key[0] + "/" + key[1] + "/" + key[2]
	},
}

// Sealed are the columns that this package seals.
func Sealed() []encryption.Column { return []encryption.Column{signingSecret, storedReply} }
