package httpconnector

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"vayu/internal/config/section"
	"vayu/pipeline/httpconnector/answer"
	"vayu/pipeline/httpconnector/template"
	"vayu/schema"
)

// signer signs our requests by HMAC (RFC 2104), and verifies the HMACs of callbacks.
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

// leastSecret is the minimum length of a secret in bytes. RFC 2104, 3, recommends at least the length of the hash. But
// the providers choose the secrets, so shorter ones are accepted.
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
		s.Faultf("timestamp-header", "is missing: over contains {timestamp}")
	case !stamped && g.timestampHeader != "":
		s.Faultf("over", "must hold {timestamp}: unsigned parts can be changed by anyone")
	}
	return g
}

// signedText reads the key "over", the template of the text to sign. The default is the body.
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

// These are the errors of callback signatures.
var (
	ErrNoSignature = schema.NewProblem(schema.SignatureRequired, "", "The request must be signed.")
	ErrSignature   = schema.NewProblem(schema.SignatureInvalid, "", "The signature does not match the body.")
	ErrStale       = schema.NewProblem(schema.SignatureInvalid, "", "The time of the signature is too old or in the future.")
)

// verify checks a callback's signature over its raw body, in constant time. The error is ErrNoSignature, ErrSignature
// or ErrStale. If the description names no timestamp header, a signature of any age is valid.
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

// checkTime rejects a signature's timestamp that is no number, or differs from `now` by more than `tolerance`.
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

// auth authenticates our requests. All parts are optional and can be combined. For example, a key in a header
// identifies us, and a signature proves our identity.
type auth struct {
	header, value  string
	user, password string
	signer         *signer
}

func newAuth(s *section.Section) auth {
	var a auth
	header, basic, mac := s.Section("header"), s.Section("basic"), s.Section("hmac")
	if header.Present() {
		a.header, a.value = header.Required("name"), header.Required("value")
		checkHeader(header, "name", a.header)
		checkValue(header, "value", a.value)
	}
	if basic.Present() {
		a.user, a.password = basic.Required("user"), basic.Text("password")
		if strings.Contains(a.user, ":") {
			basic.Faultf("user", "cannot hold a colon")
		}
		if strings.EqualFold(a.header, "Authorization") {
			s.Faultf("basic", "is sent as Authorization, and so is header")
		}
	}
	if mac.Present() {
		a.signer = newSigner(mac, signedFields)
		for _, h := range []string{a.header, "Content-Type"} {
			if h != "" && strings.EqualFold(h, a.signer.header) {
				mac.Faultf("header", "carries something else already")
			}
		}
	}
	return a
}

// checkValue reports a fault for characters that a header cannot hold.
func checkValue(s *section.Section, key, value string) {
	if !httpguts.ValidHeaderFieldValue(value) {
		s.Faultf(key, "cannot stand in a header")
	}
}

// apply authenticates a request. The request must be complete, because apply may sign all its parts.
func (a *auth) apply(req *http.Request, body []byte, now time.Time) error {
	if a.header != "" {
		req.Header.Set(a.header, a.value)
	}
	if a.user != "" {
		req.SetBasicAuth(a.user, a.password)
	}
	if a.signer == nil {
		return nil
	}
	stamp := a.signer.stamp(now)
	value, err := a.signer.sign(map[string]any{
		"timestamp": stamp, "method": req.Method, "path": req.URL.EscapedPath(), "query": req.URL.RawQuery, "body": string(body),
	})
	if err != nil {
		return err
	}
	if a.signer.timestampHeader != "" {
		req.Header.Set(a.signer.timestampHeader, stamp)
	}
	req.Header.Set(a.signer.header, value)
	return nil
}

// These are the default and the limits of the key "tolerance", the largest accepted difference between our clock and
// the timestamp of a callback's signature. We recommend the same default to receivers of our webhooks.
const (
	defaultTolerance = 5 * time.Minute
	leastTolerance   = time.Second
	mostTolerance    = 24 * time.Hour
)

type callback struct {
	signer    *signer
	tolerance time.Duration
	answer    answer.Reader
}

func newCallback(s *section.Section, shape answer.Shape) *callback {
	c := &callback{}
	if shape == nil {
		s.Faultf("", "there is none here")
	}
	signature := s.Section("signature")
	if !signature.Present() {
		s.Faultf("signature", "is missing: without one, anyone could send callbacks")
	}
	c.tolerance = signature.Duration("tolerance", defaultTolerance, leastTolerance, mostTolerance)
	if signature.Present() {
		c.signer = newSigner(signature, callbackFields)
	}
	c.answer = answer.NewReader(s, shape)
	return c
}

// Receive verifies a callback and reads its body. The error wraps ErrNoSignature, ErrSignature or ErrStale for a
// missing, wrong or outdated signature. It is another error for an unreadable body. Errors quote nothing of a request
// with a wrong signature. If the signature is right, they may quote a value that the description does not map.
func (c *Client) Receive(header http.Header, body []byte, now time.Time) (answer.Reply, error) {
	reply, err := c.receive(header, body, now)
	outcome := resultOf(err)
	c.metrics.callbacks.WithLabelValues(c.Name, string(outcome)).Inc()
	if err != nil {
		c.log.Warn("callback refused", "outcome", outcome, "error", err)
		c.log.Debug("content of the refused callback", "detail", detailOf(err))
	}
	return reply, err
}

func (d *Description) receive(header http.Header, body []byte, now time.Time) (answer.Reply, error) {
	if d.callback == nil {
		return answer.Reply{}, &Error{Result: forged, err: ErrNoSignature}
	}
	if err := d.callback.signer.verify(header, body, now, d.callback.tolerance); err != nil {
		return answer.Reply{}, &Error{Result: forged, err: err}
	}
	reply, err := d.callback.answer.Read(http.StatusOK, body)
	if err != nil {
		return answer.Reply{}, answerError(err, 0, body)
	}
	return reply, nil
}
