package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Tolerance is the maximum difference between the time of a signature and the receiver's clock, in both directions.
const Tolerance = 5 * time.Minute

// These are the errors of Verify. ErrNoSignature and ErrMalformed mean that a program other than
// the service sent the request. ErrMismatch means a wrong secret or a modified body. ErrTooOld and
// ErrTooNew mean a wrong clock or a replayed request.
var (
	ErrNoSignature = errors.New("the request has no " + Header)
	ErrMalformed   = errors.New("the " + Header + " is not of the form t=…,v1=…")
	ErrMismatch    = errors.New("no signature matches the body and a known secret")
	ErrTooOld      = errors.New("the signature is too old")
	ErrTooNew      = errors.New("the time of the signature is in the future")
	// ErrNoSecret means that the receiver has no secret, or an empty secret, with which anyone could sign.
	ErrNoSecret = errors.New("a secret is missing")
)

// Verify returns nil if the value of the signature header has a signature of the body with one of the secrets. The time
// of the signature may differ from `now` by at most Tolerance. The body must be the bytes as received. After an error
// the receiver must not use the body. Compare errors with errors.Is.
//
// During a rotation of the secret, a header has several signatures; one valid signature is enough. Verify ignores
// signatures of other versions than v1.
func Verify(body []byte, header string, now time.Time, secrets ...string) error {
	stamp, err := parse(header)
	if err != nil {
		return err
	}
	if len(secrets) == 0 {
		return ErrNoSecret
	}
	found := false
	for _, secret := range secrets {
		if secret == "" {
			return ErrNoSecret
		}
		found = found || holds(header, signature(secret, stamp, body))
	}
	if !found {
		return ErrMismatch
	}
	// The signature is valid, so the error may give details to the sender.
	at, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return ErrMalformed
	}
	age := now.Sub(time.Unix(at, 0)) // saturates at the limits of Duration, 292 years
	switch {
	case age > Tolerance:
		return fmt.Errorf("%w: %s", ErrTooOld, age.Round(time.Second))
	case age < -Tolerance:
		return fmt.Errorf("%w: %s ahead", ErrTooNew, (-age).Round(time.Second))
	}
	return nil
}

// maxDigits limits a timestamp to about the year 33000, so that arithmetic cannot overflow.
const maxDigits = 12

// parse returns the digits of the timestamp (t=…) in a header. A header without a v1 signature of the right length is
// malformed.
func parse(header string) (stamp string, err error) {
	if header == "" {
		return "", ErrNoSignature
	}
	signed := false
	for item := range strings.SplitSeq(header, ",") {
		name, value, ok := strings.Cut(item, "=")
		switch {
		case !ok, name == "t" && stamp != "", name == "t" && !digits(value):
			return "", ErrMalformed
		case name == "t":
			stamp = value
		case name == "v1":
			signed = signed || len(value) == hex.EncodedLen(sha256.Size)
		}
	}
	if stamp == "" || !signed {
		return "", ErrMalformed
	}
	return stamp, nil
}

func digits(text string) bool {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return text != "" && len(text) <= maxDigits
}

// holds reports whether a header contains the signature `want`. It compares in constant time, so that an attacker
// cannot guess the signature byte by byte.
func holds(header, want string) (found bool) {
	for item := range strings.SplitSeq(header, ",") {
		value, ok := strings.CutPrefix(item, "v1=")
		found = found || ok && hmac.Equal([]byte(value), []byte(want))
	}
	return found
}
