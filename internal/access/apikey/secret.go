package apikey

import "vayu/internal/encryption"

// SigningSecret is the column of the secret with which a client signs the requests of a key.
var SigningSecret = encryption.Column{
	Table: "api_key", Name: "signing_secret", Key: []string{"id"},
	AssociatedData: func(key ...string) string { return "api_key.signing_secret:" + key[0] },
}
