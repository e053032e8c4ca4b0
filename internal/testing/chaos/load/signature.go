package load

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
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
