package httpconnector

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"hash"
	"net/http"
	"strconv"
	"strings"
	"time"

	"vayu/internal/config/section"
	"vayu/pipeline/httpconnector/template"
)

// signer makes HMACs (RFC 2104) of our requests and verifies those of callbacks.
type signer struct {
	header          string
	prefix          string // before the signature, in the header
	timestampHeader string // empty for none
	secret          []byte
	hash            func() hash.Hash
	base64          bool
	milliseconds    bool
	template        template.Template
}

var (
	// signedFields are the fields that the signature of our requests can cover.
	signedFields = []string{"timestamp", "method", "path", "query", "body"}
	// callbackFields are the fields that the signature of a callback can cover. They lack
	// the path, which a proxy may have changed.
	callbackFields = []string{"timestamp", "body"}
)

// leastSecret is the minimum length of a secret in bytes. RFC 2104, 3, recommends the length
// of the hash, but providers choose the secret.
const leastSecret = 8

func newSigner(s *section.Section, fields []string) *signer {
	g := &signer{
		header: s.Required("header"), prefix: s.Text("prefix"), timestampHeader: s.Text("timestamp-header"),
		secret:       []byte(s.Required("secret")),
		hash:         sha256.New,
		base64:       s.Choice("encoding", "hex", "hex", "base64") == "base64",
		milliseconds: s.Choice("timestamp", "seconds", "seconds", "milliseconds") == "milliseconds",
	}
	if s.Choice("algorithm", "sha256", "sha256", "sha512") == "sha512" {
		g.hash = sha512.New
	}
	checkHeader(s, "header", g.header)
	checkHeader(s, "timestamp-header", g.timestampHeader)
	checkValue(s, "prefix", g.prefix)
	if len(g.secret) > 0 && len(g.secret) < leastSecret {
		s.Faultf("secret", "must have at least %d bytes", leastSecret)
	}
	g.template = signedText(s, fields)
	switch stamped := g.template.Has("timestamp"); {
	case !g.template.Has("body"):
		s.Faultf("over", "must hold {body}: unsigned parts can be changed by anyone")
	case stamped && g.timestampHeader == "":
		s.Faultf("timestamp-header", "is missing: over holds {timestamp}")
	case !stamped && g.timestampHeader != "":
		s.Faultf("over", "must hold {timestamp}: unsigned parts can be changed by anyone")
	}
	return g
}

// signedText reads the key "over": the template of the signed text. The default is the body.
func signedText(s *section.Section, fields []string) template.Template {
	if s.Node("over") == nil {
		return template.Field("body")
	}
	if s.Text("over") == "" {
		return template.Template{}
	}
	t, _ := template.Read(s, "over", fields)
	return t
}

func (g *signer) mac(fields map[string]any) ([]byte, error) {
	text, err := g.template.Render(fields, nil)
	if err != nil {
		return nil, err
	}
	h := hmac.New(g.hash, g.secret)
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum(nil), nil
}

func (g *signer) sign(fields map[string]any) (string, error) {
	sum, err := g.mac(fields)
	if err != nil {
		return "", err
	}
	if g.base64 {
		return g.prefix + base64.StdEncoding.EncodeToString(sum), nil
	}
	return g.prefix + hex.EncodeToString(sum), nil
}

func (g *signer) stamp(now time.Time) string {
	if g.milliseconds {
		return strconv.FormatInt(now.UnixMilli(), 10)
	}
	return strconv.FormatInt(now.Unix(), 10)
}

// Errors of callback signatures.
var (
	ErrNoSignature = errors.New("the request carries no signature")
	ErrSignature   = errors.New("the signature is not that of the request")
	ErrStale       = errors.New("the request was signed too long ago, or in the future")
)

// verify checks a callback's signature over its raw body, in constant time. The error is
// ErrNoSignature, ErrSignature or ErrStale. If no timestamp header is set, any age is valid.
func (g *signer) verify(header http.Header, body []byte, now time.Time, tolerance time.Duration) error {
	given := header.Values(g.header)
	if len(given) == 0 || g.timestampHeader != "" && len(header.Values(g.timestampHeader)) == 0 {
		return ErrNoSignature
	}
	stamps := header.Values(g.timestampHeader)
	if len(given) > 1 || len(stamps) > 1 {
		return ErrSignature
	}
	fields := map[string]any{"timestamp": "", "body": string(body)}
	if len(stamps) == 1 {
		fields["timestamp"] = stamps[0]
	}
	code, ok := strings.CutPrefix(given[0], g.prefix)
	if !ok {
		return ErrSignature
	}
	decode := hex.DecodeString
	if g.base64 {
		decode = base64.StdEncoding.DecodeString
	}
	have, err := decode(code)
	if err != nil {
		return ErrSignature
	}
	want, err := g.mac(fields)
	if err != nil || !hmac.Equal(have, want) {
		return ErrSignature
	}
	if g.timestampHeader == "" {
		return nil
	}
	return g.checkTime(stamps[0], now, tolerance)
}

// checkTime rejects a timestamp of a signature that differs from now by more than tolerance.
func (g *signer) checkTime(stamp string, now time.Time, tolerance time.Duration) error {
	n, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return ErrSignature
	}
	at := time.Unix(n, 0)
	if g.milliseconds {
		at = time.UnixMilli(n)
	}
	if age := now.Sub(at); age > tolerance || age < -tolerance {
		return ErrStale
	}
	return nil
}
