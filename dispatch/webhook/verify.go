package webhook

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how far the time of a signature may be from the receiver's clock
// (spec 5.4), in the past and, since clocks differ, in the future.
const Tolerance = 5 * time.Minute

// What can be wrong with a signature. Each wants another thing to be done: the
// first two come from something else than the service, ErrMismatch from a wrong
// secret or a body that has changed on its way, ErrTooOld and ErrTooNew from a
// wrong clock or somebody who sends a recording.
var (
	ErrNoSignature = errors.New("the request carries no " + Header)
	ErrMalformed   = errors.New("the " + Header + " is not of the form t=…,v1=…")
	ErrMismatch    = errors.New("no signature is that of the body under a known secret")
	ErrTooOld      = errors.New("the signature is too old")
	ErrTooNew      = errors.New("the signature is of the future")
	// ErrNoSecret says that the receiver has none, or an empty one, with which
	// everybody could sign.
	ErrNoSecret = errors.New("a secret is missing")
)

// Verify says whether a body is signed, under any of the secrets, no longer than
// Tolerance ago. The body must be the bytes as they came. An error is one of
// those above, for errors.Is; the body must not be used then.
//
// A header may hold several signatures, as it does while a secret is being
// replaced; one that holds is enough. Schemes other than v1 are ignored.
func Verify(body []byte, header string, now time.Time, secrets ...string) error {
	return verify(body, header, now, Tolerance, secrets)
}

func verify(body []byte, header string, now time.Time, tolerance time.Duration, secrets []string) error {
	stamp, err := parse(header)
	if err != nil {
		return err
	}
	if len(secrets) == 0 {
		return ErrNoSecret
	}
	found := 0
	for _, secret := range secrets {
		if secret == "" {
			return ErrNoSecret
		}
		found |= holds(header, mac(secret, stamp, body))
	}
	if found == 0 {
		return ErrMismatch
	}
	// What is left is the service's own word, so the sender may know what is wrong.
	at, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return ErrMalformed
	}
	age := now.Sub(time.Unix(at, 0)) // stops at the ends of Duration, 292 years
	switch {
	case age > tolerance:
		return fmt.Errorf("%w: %s", ErrTooOld, age.Round(time.Second))
	case age < -tolerance:
		return fmt.Errorf("%w: %s ahead", ErrTooNew, (-age).Round(time.Second))
	}
	return nil
}

// mostDigits keep a time within 10 years of 30,000; nothing real is longer, and
// no arithmetic on it can overflow.
const mostDigits = 12

// parse returns the digits of a header's time. The header has at least one v1 of
// the right length then.
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
	return text != "" && len(text) <= mostDigits
}

// holds is 1 when one of the signatures is sum, else 0. How long it takes depends
// on what the header says and not on what it should say.
func holds(signatures string, sum [sha256.Size]byte) int {
	found := 0
	var want, have [2 * sha256.Size]byte
	hex.Encode(want[:], sum[:])
	for item := range strings.SplitSeq(signatures, ",") {
		if value, ok := strings.CutPrefix(item, "v1="); ok && len(value) == len(have) {
			copy(have[:], value)
			found |= subtle.ConstantTimeCompare(have[:], want[:])
		}
	}
	return found
}
