package verify

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"vayu/pipeline/verify/upi"
	"vayu/schema"
)

// encryptPrivate encrypts the private part of a request.
func (s *Service) encryptPrivate(id string, p *Private) ([]byte, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encrypting the target of %s: %w", id, err)
	}
	return private.Encrypt(s.Cipher, text, id), nil
}

// decryptPrivate reads the private part of a pending verification.
func (s *Service) decryptPrivate(r *Record) (p Private, err error) {
	text, err := private.Decrypt(s.Cipher, r.Encrypted, r.ID)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return Private{}, fmt.Errorf("decrypting the target of %s: %w", r.ID, err)
	}
	p.IFSC = r.IFSC
	return p, nil
}

// target returns the masked target of a request.
func (r *Request) target() string {
	if r.Method == schema.VerifyUPI {
		return upi.Mask(r.VPA)
	}
	return schema.MaskNumber(r.Account)
}

// cacheKey identifies the target, for finding a cached answer.
func (s *Service) cacheKey(r *Request) []byte {
	return s.Cipher.Digest("verification/same", []byte(r.Method), []byte(r.Account), []byte(r.IFSC), []byte(r.VPA))
}

// digest identifies the request, for detecting a repetition.
func (s *Service) digest(r *Request) []byte {
	return s.Cipher.Digest("verification/request", []byte(r.Method), []byte(r.Account), []byte(r.IFSC), []byte(r.VPA), []byte(r.Name),
		[]byte(strconv.Itoa(r.Tolerance)))
}

// nameDigest returns the digest of an expected name for the audit log. It can show later whether
// a request had a given name.
func (s *Service) nameDigest(name string) string {
	return hex.EncodeToString(s.Cipher.Digest("verification/name", []byte(name))[:16])
}
