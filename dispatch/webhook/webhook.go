// Package webhook signs and verifies deliveries. A receiver in Go needs only this package
// of Vayu.
package webhook

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// Header is the name of the header that carries signatures.
const Header = "X-SERVICE-Signature"

// stackSize is the size of the buffer on the stack in which a header is built. The signatures of
// three secrets fit into the buffer.
const stackSize = 224

// Sign returns the value of the header for a body: t=…,v1=… with one v1 for each secret. The
// key of a signature is the whole secret including its prefix.
func Sign(body []byte, at time.Time, secrets ...string) string {
	var stack [stackSize]byte
	header := strconv.AppendInt(append(stack[:0], "t="...), at.Unix(), 10)
	stamp := header[len("t="):]
	for _, secret := range secrets {
		sum := mac(secret, stamp, body)
		header = hex.AppendEncode(append(header, ",v1="...), sum[:])
	}
	return string(header)
}

// mac returns the HMAC-SHA256 (RFC 2104) of the time stamp, a dot and the body. The signature is
// the most expensive work of an attempt. Therefore mac does not use crypto/hmac, which makes ten
// allocations for each message.
func mac[T string | []byte](secret string, stamp T, body []byte) [sha256.Size]byte {
	const inner, outer = 0x36, 0x5c
	var key [sha256.BlockSize]byte
	if len(secret) > len(key) {
		short := sha256.Sum256([]byte(secret))
		copy(key[:], short[:])
	} else {
		copy(key[:], secret)
	}
	for i := range key {
		key[i] ^= inner
	}
	var text [sha256.BlockSize]byte
	h := sha256.New()
	_, _ = h.Write(key[:]) // never fails
	_, _ = h.Write(append(append(text[:0], stamp...), '.'))
	_, _ = h.Write(body)
	var last [sha256.BlockSize + sha256.Size]byte
	for i := range key {
		last[i] = key[i] ^ inner ^ outer
	}
	h.Sum(last[:sha256.BlockSize])
	return sha256.Sum256(last[:])
}
