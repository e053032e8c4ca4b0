package subscription

import "vayu/internal/encryption"

// These are the encrypted columns with secrets of subscriptions. Both columns have the same associated data, so
// a rotation can copy a secret from one to the other without decrypting it.
var (
	secretColumn   = encryption.Column{Table: "webhook", Name: "secret", Key: []string{"id"}, AssociatedData: secretData}
	previousColumn = encryption.Column{Table: "webhook", Name: "previous_secret", Key: []string{"id"}, AssociatedData: secretData}
)

func secretData(key ...string) string { return "webhook.secret:" + key[0] }

// EncryptedColumns returns the columns with webhook secrets, for re-encryption.
func EncryptedColumns() []encryption.Column { return []encryption.Column{secretColumn, previousColumn} }
