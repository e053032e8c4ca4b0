// Package request reads requests for verifications.
package request

import (
	"encoding/hex"
	"strconv"

	"vayu/internal/access/idempotency"
	"vayu/internal/encryption"
	"vayu/internal/httpapi"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/upi"
	"vayu/schema"
)

// Minimum scores of the named tolerances of the API. Only names with the same words score 100.
const (
	Strict   = 100
	Standard = 70
	lenient  = 50
)

// Request is one validated verification request, before any access to the store or a bank.
type Request struct {
	Owner  schema.Owner
	RefID  string // "" for none
	Method schema.VerificationMethod
	Private
	// Tolerance is the minimum score of a name match, 0 to 100; negative for the account's
	// default.
	Tolerance int
	Caller    httpapi.Who

	// Once is the request's Idempotency-Key; nil for none.
	Once *idempotency.Key
	// Item is the batch record that the request belongs to; nil for none.
	Item *transaction.BatchItem
}

// Private holds the fields that are stored encrypted. They are stored only while the verification
// is pending.
type Private struct {
	Account string `json:"account,omitempty"` // 9 to 18 digits
	IFSC    string `json:"-"`                 // not secret
	VPA     string `json:"vpa,omitempty"`     // in lower case
	Name    string `json:"name,omitempty"`    // expected name; "" for none
}

// Target returns the masked account number or UPI address of a request.
func (r *Request) Target() string {
	if r.Method == schema.VerifyUPI {
		return upi.Mask(r.VPA)
	}
	return schema.MaskNumber(r.Account)
}

// CacheKey returns a digest of the account or UPI address to verify, by which a cached answer can
// be found.
func (r *Request) CacheKey(box *encryption.Cipher) []byte {
	return box.Digest("verification/same", []byte(r.Method), []byte(r.Account), []byte(r.IFSC), []byte(r.VPA))
}

// Digest returns a digest of the request, by which a repeated request can be detected.
func (r *Request) Digest(box *encryption.Cipher) []byte {
	return box.Digest("verification/request", []byte(r.Method), []byte(r.Account), []byte(r.IFSC), []byte(r.VPA), []byte(r.Name),
		[]byte(strconv.Itoa(r.Tolerance)))
}

// NameDigest returns the digest of the expected name for the audit log. The digest can show later
// whether a request had a certain name.
func (r *Request) NameDigest(box *encryption.Cipher) string {
	return hex.EncodeToString(box.Digest("verification/name", []byte(r.Name))[:16])
}
