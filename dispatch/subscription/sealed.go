package subscription

import "vayu/internal/encryption"

// The secrets of a subscription. Their place is one for both, so that a rotation
// can move a secret without reading it.
var (
	sealedSecret   = encryption.Column{Table: "webhook", Name: "secret", Key: []string{"id"}, About: aboutSecret}
	sealedPrevious = encryption.Column{Table: "webhook", Name: "previous_secret", Key: []string{"id"}, About: aboutSecret}
)

func aboutSecret(key ...string) string { return "webhook.secret:" + key[0] }

// Sealed are the columns that this package seals.
func Sealed() []encryption.Column { return []encryption.Column{sealedSecret, sealedPrevious} }
