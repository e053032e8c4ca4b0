// Package signature signs requests, and parses and checks the signatures of requests.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
	"time"

	"vayu/internal/access/idempotency"
	"vayu/internal/httpapi"
	"vayu/schema"
)

const (
	// Header is X-SERVICE-Request-Signature in Go's canonical form.
	Header        = "X-Service-Request-Signature"
	versionHeader = "X-Service-Version"
	// Window is the largest difference between the time of a signature and the server's time, in both directions.
	Window = 300 * time.Second
)

// Errors of signatures. They do not reveal the expected signature.
var (
	ErrRequired = schema.NewProblem(schema.SignatureRequired, headerName,
		"The API key requires signed requests. Send the header X-SERVICE-Request-Signature: t=<unix seconds>,v2=<hex>.")
	ErrForm = schema.NewProblem(schema.SignatureInvalid, headerName,
		"The header X-SERVICE-Request-Signature must occur once, as t=<unix seconds>,v2=<64 hex digits>, or with v1 instead of v2.")
	ErrStale = schema.NewProblem(schema.SignatureInvalid, headerName,
		"The time of the signature differs from the server's time by more than 300 seconds.")
	ErrWrong = schema.NewProblem(schema.SignatureInvalid, headerName,
		"The signature does not match the request. It must be the HMAC-SHA256, with the key's signing secret, of the text that the API reference describes.")
	ErrSeen = schema.NewProblem(schema.SignatureInvalid, headerName,
		"A request with this signature was already accepted. Create a new signature for each request.")
)

const headerName = "X-SERVICE-Request-Signature"

// scheme defines what a signature covers and how the parts are joined.
type scheme string

const (
	// schemeV1 signs the text t.METHOD.path?query.body. The text covers no headers. It is ambiguous, because its parts
	// may contain dots. Clients of version 0.1.0 use this scheme.
	schemeV1 scheme = "v1"
	// schemeV2 signs the six lines of [Signed.text] and the body. An attacker without the secret cannot turn a
	// signature of this scheme into one of scheme v1.
	schemeV2 scheme = "v2"
)

// Signature is a parsed header X-SERVICE-Request-Signature.
type Signature struct {
	scheme scheme
	at     string // as sent, because the signature covers this text
	Unix   int64
	MAC    [sha256.Size]byte
}

// Parse parses the value of a signature header: t=<unix>,v1=<hex> or t=<unix>,v2=<hex>. Other texts yield false.
func Parse(text string) (Signature, bool) {
	var s Signature
	first, second, _ := strings.Cut(text, ",")
	at, ok := strings.CutPrefix(first, "t=")
	name, mac, _ := strings.Cut(second, "=")
	const mostDigits = 12
	s.scheme = scheme(name)
	if s.scheme != schemeV1 && s.scheme != schemeV2 {
		return s, false
	}
	if !ok || at == "" || len(at) > mostDigits || len(mac) != hex.EncodedLen(len(s.MAC)) {
		return s, false
	}
	for i := range len(at) {
		if at[i] < '0' || at[i] > '9' {
			return s, false
		}
	}
	unix, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return s, false
	}
	if _, err := hex.Decode(s.MAC[:], []byte(mac)); err != nil {
		return s, false
	}
	s.at, s.Unix = at, unix
	return s, true
}

// Signed holds the parts of a request that scheme v2 signs.
type Signed struct {
	Method         string
	Target         string // path and query as they are sent
	IdempotencyKey string // value of the header; empty for none
	Version        string // value of X-SERVICE-Version; empty for none
	Body           []byte
}

// Sign returns the value of X-SERVICE-Request-Signature in scheme v2. The parameter `secret` is the key's signing
// secret in the form that the client received.
func (r *Signed) Sign(secret string, now time.Time) string {
	at := strconv.FormatInt(now.Unix(), 10)
	return "t=" + at + ",v2=" + hex.EncodeToString(macOf([]byte(secret), r.text(at), r.Body))
}

// text returns the signed text before the body: six lines. The text is unambiguous, because in HTTP none of
// these values contains a line feed, and the body is last.
func (r *Signed) text(at string) string {
	return strings.Join([]string{string(schemeV2), at, r.Method, r.Target, r.IdempotencyKey, r.Version, ""}, "\n")
}

// Sign returns the value of X-SERVICE-Request-Signature in scheme v1. `secret` is the key's signing secret in the form
// that the client received. `target` is the path and query as sent. New clients use [Signed.Sign].
func Sign(secret, method, target string, body []byte, now time.Time) string {
	at := strconv.FormatInt(now.Unix(), 10)
	return "t=" + at + ",v1=" + hex.EncodeToString(macOf([]byte(secret), at+"."+method+"."+target+".", body))
}

func macOf(secret []byte, text string, body []byte) []byte {
	h := hmac.New(sha256.New, secret)
	_, _ = io.WriteString(h, text) // a hash accepts everything
	h.Write(body)
	return h.Sum(nil)
}

// Signs reports whether s is the correct signature of a call with a secret.
func (s *Signature) Signs(c *httpapi.Call, secret []byte) bool {
	text := s.at + "." + c.Method + "." + c.RequestURI + "."
	if s.scheme == schemeV2 {
		keys, versions := c.Header[idempotency.Header], c.Header[versionHeader]
		if len(keys) > 1 || len(versions) > 1 { // repeated headers could be joined in several ways
			return false
		}
		r := Signed{Method: c.Method, Target: c.RequestURI, IdempotencyKey: strings.Join(keys, ""), Version: strings.Join(versions, "")}
		text = r.text(s.at)
	}
	return hmac.Equal(macOf(secret, text, c.Body), s.MAC[:])
}
