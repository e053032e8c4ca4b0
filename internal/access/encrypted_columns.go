package access

import (
	"vayu/internal/access/apikey"
	"vayu/internal/access/idempotency"
	"vayu/internal/encryption"
)

// EncryptedColumns returns the columns that this package encrypts.
func EncryptedColumns() []encryption.Column {
	return []encryption.Column{apikey.SigningSecret, idempotency.StoredReply}
}
