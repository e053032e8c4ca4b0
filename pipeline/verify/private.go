package verify

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"vayu/pipeline/verify/upi"
	"vayu/schema"
)

// encryptPrivate is what is kept of the private part of a request.
func (s *Service) encryptPrivate(id string, p *Private) ([]byte, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("sealing what %s verifies: %w", id, err)
	}
	return private.Seal(s.Box, text, id), nil
}

// decryptPrivate reads what a verification that is pending is about.
func (s *Service) decryptPrivate(r *Record) (p Private, err error) {
	text, err := private.Open(s.Box, r.Sealed, r.ID)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return Private{}, fmt.Errorf("opening what %s verifies: %w", r.ID, err)
	}
	p.IFSC = r.IFSC
	return p, nil
}

// target is what a request verifies, masked.
func (r *Request) target() string {
	if r.Method == schema.VerifyUPI {
		return upi.Mask(r.VPA)
	}
	return schema.MaskNumber(r.Account)
}

// cacheKey is by what an earlier answer about the same account is found.
func (s *Service) cacheKey(r *Request) []byte {
	return s.Box.Digest("verification/same", []byte(r.Method), []byte(r.Account), []byte(r.IFSC), []byte(r.VPA))
}

// digest is by what a repetition of a request is known.
func (s *Service) digest(r *Request) []byte {
	return s.Box.Digest("verification/request", []byte(r.Method), []byte(r.Account), []byte(r.IFSC), []byte(r.VPA), []byte(r.Name),
		[]byte(strconv.Itoa(r.Tolerance)))
}

// nameDigest is what the audit log has of a name: enough to prove which one it was to
// whoever knows it.
func (s *Service) nameDigest(name string) string {
	return hex.EncodeToString(s.Box.Digest("verification/name", []byte(name))[:16])
}
