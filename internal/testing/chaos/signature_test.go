package chaos

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

// genuine verifies the signature of a delivery as docs/webhooks.md describes. It does not use the code that
// signs. v1 is the HMAC-SHA256 of the time, a dot and the body.
func genuine(header string, body []byte, secret string) bool {
	stamp, signatures, ok := strings.Cut(header, ",")
	at, isTime := strings.CutPrefix(stamp, "t=")
	if !ok || !isTime || secret == "" {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(at + "."))
	_, _ = mac.Write(body)
	want := "v1=" + hex.EncodeToString(mac.Sum(nil))
	for one := range strings.SplitSeq(signatures, ",") {
		if hmac.Equal([]byte(one), []byte(want)) {
			return true
		}
	}
	return false
}

// The vector is that of the documentation of package dispatch/webhook.
func TestGenuine(t *testing.T) {
	t.Parallel()
	const body, secret = `{"id":"evt_1"}`, "whsec_of_the_subscription"
	for header, want := range map[string]bool{
		"":                     false,
		"t=1795000000":         false,
		vector:                 true,
		vector + ",v1=00":      true,
		"t=1795000001" + rest:  false,
		"x=1795000000" + rest:  false,
		"t=1795000000,v2=0000": false,
	} {
		if got := genuine(header, []byte(body), secret); got != want {
			t.Errorf("%q: got %v, want %v", header, got, want)
		}
	}
	if genuine(vector, []byte(body), "") {
		t.Error("a delivery is accepted without a secret")
	}
	if genuine(vector, []byte(body+" "), secret) {
		t.Error("a delivery with another body is accepted")
	}
}

// rest is what follows the time in vector.
const (
	rest   = ",v1=0316a31ce5f171de52aa4010de6bb40bacd4bd68c79256235ece920f7f4d69d4"
	vector = "t=1795000000" + rest
)
