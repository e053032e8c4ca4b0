// Package webhook signs and verifies deliveries.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// Header is the name of the header that carries signatures.
const Header = "X-SERVICE-Signature"

// Sign returns the value of [Header] for a body: t=…,v1=… with one v1 for each secret. The HMAC key of a signature is
// the whole secret with its prefix (whsec_).
func Sign(body []byte, at time.Time, secrets ...string) string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	parts := []string{"t=" + stamp}
	for _, secret := range secrets {
		parts = append(parts, "v1="+signature(secret, stamp, body))
	}
	return strings.Join(parts, ",")
}

// signature returns the HMAC-SHA256 (RFC 2104) of the time stamp, a dot and the body, in hexadecimal.
func signature(secret, stamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(stamp + ".")) // never fails
	_, _ = mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}
