// Package request reads requests for verifications.
package request

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/access/idempotency"
	"vayu/internal/encryption"
	"vayu/internal/httpapi"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/ifsc"
	"vayu/pipeline/verify/namematch"
	"vayu/pipeline/verify/upi"
	"vayu/schema"
)

// These are the minimum scores of the named tolerances of the API. Only names with the same words score 100.
const (
	Strict   = 100
	Standard = namematch.Standard
	lenient  = namematch.Lenient
)

// Request is one validated verification request, before any access to the store or a bank.
type Request struct {
	transaction.Origin
	Private

	RefID  string // "" for none
	Method schema.VerificationMethod
	// Tolerance is the minimum score of a name match, 0 to 100. A negative value stands for the account's default.
	Tolerance int
	// Once is the request's Idempotency-Key; nil for none.
	Once *idempotency.Key
}

// Private holds the target and the expected name. While the verification is pending, all but the IFSC are
// stored as JSON in an encrypted column. The IFSC has an unencrypted column.
type Private struct {
	Account string `json:"account,omitempty"` // 9 to 18 digits
	IFSC    string `json:"-"`                 // not secret, stored unencrypted
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

// CacheKey returns a keyed digest, 32 bytes, of the method and the account or UPI address. The cache finds
// answers by this key. CacheKey panics as [encryption.Cipher.Digest] does.
func (r *Request) CacheKey(cipher *encryption.Cipher) []byte {
	return cipher.Digest("verification/same", []byte(r.Method), []byte(r.Account), []byte(r.IFSC), []byte(r.VPA))
}

// Digest returns a keyed digest, 32 bytes, of the input of CacheKey, the expected name and the tolerance. A
// repeated request has the same digest. Digest panics as [encryption.Cipher.Digest] does.
func (r *Request) Digest(cipher *encryption.Cipher) []byte {
	return cipher.Digest("verification/request", []byte(r.Method), []byte(r.Account), []byte(r.IFSC), []byte(r.VPA), []byte(r.Name),
		[]byte(strconv.Itoa(r.Tolerance)))
}

// NameDigest returns the first 16 bytes of a keyed digest of the expected name, in hexadecimal, for the audit log. The
// digest can show later whether a request had a certain name. It panics as [encryption.Cipher.Digest] does.
func (r *Request) NameDigest(cipher *encryption.Cipher) string {
	return hex.EncodeToString(cipher.Digest("verification/name", []byte(r.Name))[:16])
}

// longestName is the limit of an expected name, in characters. Names in banks' records have at most
// half as many characters.
const longestName = 256

// tolerances maps the named tolerances of the API to minimum scores.
var tolerances = map[string]int{"strict": Strict, "standard": Standard, "lenient": lenient}

// requestBody is the body of POST /v1/bank/verify or a batch record. Its values are not decoded
// yet, so that one error can list the faults of all values.
type requestBody struct {
	AccountNumber jsontext.Value `json:"account_number"`
	IFSC          jsontext.Value `json:"ifsc"`
	VPA           jsontext.Value `json:"vpa"`
	Name          jsontext.Value `json:"name"`
	Tolerance     jsontext.Value `json:"name_match_tolerance"`
	RefID         jsontext.Value `json:"ref_id"`
	Async         jsontext.Value `json:"async"`
}

// Parse reads a request from its body. The caller sets the owner and the other fields that are not
// in the body. The error is a *schema.Problem with every fault.
func Parse(body []byte) (r Request, async bool, err error) {
	from, err := httpapi.Decode[requestBody](&httpapi.Call{Body: body})
	if err != nil {
		return Request{}, false, err
	}
	var f form
	f.account(&r, &from)
	f.name(&r, from.Name)
	r.Tolerance = f.tolerance(from.Tolerance)
	r.RefID = httpapi.Ref(&f.RequestErrors, from.RefID)
	if httpapi.HasValue(from.Async) {
		if async = from.Async.Kind() == jsontext.KindTrue; !async && from.Async.Kind() != jsontext.KindFalse {
			f.Add("async", "async must be true or false.")
		}
	}
	return r, async, f.ProblemByStatus()
}

// form collects the faults of a request's body.
type form struct{ schema.RequestErrors }

// account reads the target: a UPI address alone, or an account number with the IFSC of its branch.
// The target determines the method.
func (f *form) account(r *Request, from *requestBody) {
	number, branch, address := httpapi.HasValue(from.AccountNumber), httpapi.HasValue(from.IFSC), httpapi.HasValue(from.VPA)
	switch {
	case address && (number || branch):
		f.AddAs(schema.ConflictingParameters, "vpa", "Send either vpa, or account_number with ifsc, not both.")
		return
	case !address && !number && !branch:
		f.AddAs(schema.ConflictingParameters, "", "Send either vpa, or account_number with ifsc.")
		return
	case address:
		r.Method = schema.VerifyUPI
		if text, ok := httpapi.Text(&f.RequestErrors, "vpa", from.VPA); ok {
			if r.VPA, ok = upi.Parse(text); !ok {
				f.AddAs(schema.InvalidVPA, "vpa", "The vpa must be name@handle: a name of 2 to 256 letters, digits, dots, hyphens or underscores, and a handle of letters and digits.")
			}
		}
		return
	case !number:
		f.Add("account_number", "The account_number is missing.")
	case !branch:
		f.Add("ifsc", "The ifsc is missing.")
	}
	r.Method = schema.VerifyPennyDrop
	if number {
		f.number(r, from.AccountNumber)
	}
	if branch {
		f.branch(r, from.IFSC)
	}
}

// number reads an account number. An account number must be JSON text, because a JSON number loses leading zeros, and a
// long JSON number loses its last digits.
func (f *form) number(r *Request, v jsontext.Value) {
	const field, least, most = "account_number", 9, 18
	if v.Kind() == jsontext.KindNumber {
		f.Add(field, "account_number must be a string. A number would lose leading zeros and its last digits.")
		return
	}
	text, ok := httpapi.Text(&f.RequestErrors, field, v)
	if !ok {
		return
	}
	if len(text) < least || len(text) > most || strings.Trim(text, "0123456789") != "" {
		f.AddAs(schema.InvalidAccountNumber, field, fmt.Sprintf("The account_number must have %d to %d digits, and no other characters.", least, most))
		return
	}
	r.Account = text
}

func (f *form) branch(r *Request, v jsontext.Value) {
	text, ok := httpapi.Text(&f.RequestErrors, "ifsc", v)
	if !ok {
		return
	}
	code, ok := ifsc.Parse(text)
	if !ok {
		f.AddAs(schema.InvalidIFSC, "ifsc", "The ifsc must have four letters, the digit 0, and six letters or digits.")
		return
	}
	if _, ok := ifsc.Find(code); !ok {
		f.AddAs(schema.InvalidIFSC, "ifsc", "No branch has this ifsc.")
		return
	}
	r.IFSC = code
}

func (f *form) name(r *Request, v jsontext.Value) {
	const field = "name"
	if !httpapi.HasValue(v) {
		return
	}
	text, ok := httpapi.Text(&f.RequestErrors, field, v)
	switch {
	case !ok:
	case utf8.RuneCountInString(text) > longestName || strings.ContainsFunc(text, unicode.IsControl):
		f.Add(field, fmt.Sprintf("The name must have 1 to %d characters and no control characters.", longestName))
	case !strings.ContainsFunc(text, unicode.IsLetter):
		f.Add(field, "The name must have a letter. Omit the field if you expect no name.")
	default:
		r.Name = text
	}
}

// tolerance returns the required similarity of names, from a named tolerance or a score. Without
// either, the result is negative, and the account's default applies.
func (f *form) tolerance(v jsontext.Value) int {
	const field = "name_match_tolerance"
	switch {
	case !httpapi.HasValue(v):
		return -1
	case v.Kind() == jsontext.KindString:
		if text, ok := httpapi.Text(&f.RequestErrors, field, v); ok {
			if score, ok := tolerances[text]; ok {
				return score
			}
		}
	case v.Kind() == jsontext.KindNumber:
		if n, err := strconv.Atoi(string(v)); err == nil && n >= 0 && n <= Strict {
			return n
		}
	}
	f.RequestErrors = slices.DeleteFunc(f.RequestErrors, func(d schema.ProblemDetail) bool { return d.Field == field }) // one fault per field
	f.Add(field, "The name_match_tolerance must be strict, standard or lenient, or a whole number from 0 to 100.")
	return -1
}
