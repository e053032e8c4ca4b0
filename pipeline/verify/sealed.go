package verify

import "vayu/internal/encryption"

// private is what of a verification is kept to ask a bank about it.
var private = encryption.Column{
	Table: "verification", Name: "private", Key: []string{"id"},
	About: func(key ...string) string { return "verification/" + key[0] + "/private" },
}

// Sealed are the columns that this package seals.
func Sealed() []encryption.Column { return []encryption.Column{private} }
