package verify

import "vayu/internal/encryption"

// private is the column of the encrypted request data that bank calls need.
var private = encryption.Column{
	Table: "verification", Name: "private", Key: []string{"id"},
	AssociatedData: func(key ...string) string { return "verification/" + key[0] + "/private" },
}

// EncryptedColumns returns the columns that this package encrypts.
func EncryptedColumns() []encryption.Column { return []encryption.Column{private} }
