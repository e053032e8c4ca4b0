package httpconnector

import (
	"net/http"
	"strings"
	"time"

	"vayu/internal/config/section"
)

// auth authenticates requests. All parts are optional and can be combined: a key as identity,
// and a signature as its proof.
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
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		s.Faultf(key, "cannot stand in a header")
	}
}

// apply authenticates a request. The rest of the request must be complete, because it is signed.
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
