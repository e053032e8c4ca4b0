package verify

import (
	"encoding/json"
	"fmt"

	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/pipeline/verify/request"
)

// encryptPrivate encrypts the private part of a request.
func (s *Service) encryptPrivate(id string, p *request.Private) ([]byte, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encrypting the target of %s: %w", id, err)
	}
	return private.Encrypt(s.Cipher, text, id), nil
}

// decryptPrivate reads the private part of a pending verification.
func (s *Service) decryptPrivate(r *Record) (p request.Private, err error) {
	text, err := private.Decrypt(s.Cipher, r.Encrypted, r.ID)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return request.Private{}, fmt.Errorf("decrypting the target of %s: %w", r.ID, err)
	}
	p.IFSC = r.IFSC
	return p, nil
}

// private is the column of the encrypted request data that bank calls need.
var private = encryption.Column{
	Table: "verification", Name: "private", Key: []string{"id"},
	AssociatedData: func(key ...string) string { return "verification/" + key[0] + "/private" },
}

// EncryptedColumns returns the columns that this package encrypts.
func EncryptedColumns() []encryption.Column { return []encryption.Column{private} }

// Personal returns how to erase an account's personal data: all its verifications and timelines.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{
		{
			Table: "upstream_step", Key: []string{"subject", "number"},
			From: "upstream_step t JOIN verification v ON v.id = t.subject WHERE v.account_id = $1",
		},
		{Table: "verification", Key: []string{"id"}, From: "verification t WHERE t.account_id = $1"},
	}
}
