package vayu_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	vayu "vayu.example/sdk"
)

// noon is a time of a signature.
var noon = time.Unix(1795000000, 0)

const event = `{"id":"evt_1","type":"quota.warning","created":1795000000,"api_version":"2026-11-01","data":{"used":800}}`

func mac(secret, body string) string {
	h := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(h, "%d.%s", noon.Unix(), body)
	return hex.EncodeToString(h.Sum(nil))
}

func signed(header ...string) http.Header {
	return http.Header{http.CanonicalHeaderKey(vayu.SignatureHeader): header}
}

func TestWebhooksAreVerified(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]http.Header{
		"one secret":        signed("t=1795000000,v1=" + mac("new", event)),
		"a rotation":        signed("t=1795000000,v1=" + mac("other", event) + ",v1=" + mac("old", event)),
		"another scheme":    signed("t=1795000000,v0=00,v1=" + mac("new", event)),
		"two header fields": signed("t=1795000000", "v1="+mac("new", event)),
	} {
		got, err := vayu.VerifyWebhook([]byte(event), header, noon.Add(5*time.Minute), "new", "old")
		if err != nil || got.ID != "evt_1" || got.Type != "quota.warning" || string(got.Data) != `{"used":800}` {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

func TestForgedWebhooksAreErrors(t *testing.T) {
	t.Parallel()
	good := "t=1795000000,v1=" + mac("secret", event)
	for name, c := range map[string]struct {
		body    string
		header  http.Header
		age     time.Duration
		secrets []string
	}{
		"too old":           {event, signed(good), 301 * time.Second, []string{"secret"}},
		"in the future":     {event, signed(good), -301 * time.Second, []string{"secret"}},
		"of another secret": {event, signed(good), 0, []string{"another"}},
		"of another body":   {event + " ", signed(good), 0, []string{"secret"}},
		"without a secret":  {event, signed(good), 0, nil},
		"an empty secret":   {event, signed("t=1795000000,v1=" + mac("", event)), 0, []string{""}},
		"no header":         {event, nil, 0, []string{"secret"}},
		"no time":           {event, signed("v1=" + mac("secret", event)), 0, []string{"secret"}},
		"two times":         {event, signed("t=1," + good), 0, []string{"secret"}},
		"a short signature": {event, signed(strings.TrimSuffix(good, good[len(good)-2:])), 0, []string{"secret"}},
		"no signature":      {event, signed("t=1795000000,v1="), 0, []string{"secret"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := vayu.VerifyWebhook([]byte(c.body), c.header, noon.Add(c.age), c.secrets...); !errors.Is(err, vayu.ErrSignature) || got.ID != "" {
				t.Errorf("got the event %+v and the error %v, want none and %v", got, err, vayu.ErrSignature)
			}
		})
	}
	if _, err := vayu.VerifyWebhook([]byte("{"), signed("t=1795000000,v1="+mac("secret", "{")), noon, "secret"); err == nil || errors.Is(err, vayu.ErrSignature) {
		t.Errorf("a signed body that is not JSON: %v", err)
	}
}

// FuzzVerifyWebhook checks that no header without a signature of the secret is accepted.
func FuzzVerifyWebhook(f *testing.F) {
	for _, text := range []string{"t=1795000000,v1=" + mac("another", event), "t=,v1=", "t=-1,v1=zz", ",,=,t=1795000000"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := vayu.VerifyWebhook([]byte(event), signed(text), noon, "secret"); err == nil {
			t.Errorf("%q was accepted", text)
		}
	})
}
