package subscription

import "vayu/internal/seal"

// The secrets of a subscription. Their place is one for both, so that a rotation
// can move a secret without reading it.
var (
	sealedSecret   = seal.Column{Table: "webhook", Name: "secret", Key: []string{"id"}, About: aboutSecret}
	sealedPrevious = seal.Column{Table: "webhook", Name: "previous_secret", Key: []string{"id"}, About: aboutSecret}
)

func aboutSecret(key ...string) string { return "webhook.secret:" + key[0] }

// Sealed are the columns that this package seals.
func Sealed() []seal.Column { return []seal.Column{sealedSecret, sealedPrevious} }
