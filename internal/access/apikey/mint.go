package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"strings"

	"vayu/schema"
)

// base62 holds the digits of base 62, in ascending order.
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Widths of a key's parts, in characters. 33 digits of base 62 can express 24 random bytes, because 62^33 > 2^192.
// 6 digits can express a CRC-32, because 62^6 > 2^32.
const (
	keyPrefixWidth = len(livePrefix)
	keySecretWidth = 33
	keyCheckWidth  = 6
	keyBodyWidth   = keyPrefixWidth + keySecretWidth
	keyWidth       = keyBodyWidth + keyCheckWidth
)

// Prefixes of the keys of each world (live or sandbox). Both have the same length.
const (
	livePrefix    = "sk_live_"
	sandboxPrefix = "sk_test_"
)

// Mint returns a new random key of a world: the prefix "sk_live_" or "sk_test_", 24 random bytes in base62,
// and the CRC-32 of both in 6 characters. Secret scanners use the checksum to recognize keys.
func Mint(world schema.World) string {
	var secret [24]byte
	_, _ = rand.Read(secret[:]) // never fails: it ends the program instead
	body := livePrefix
	if world == schema.Sandbox {
		body = sandboxPrefix
	}
	body += base62Text(new(big.Int).SetBytes(secret[:]), keySecretWidth)
	sum := crc32.ChecksumIEEE([]byte(body))
	return body + base62Text(new(big.Int).SetUint64(uint64(sum)), keyCheckWidth)
}

func base62Text(n *big.Int, width int) string {
	out := make([]byte, width)
	base, digit := big.NewInt(int64(len(base62))), new(big.Int)
	for i := width - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		out[i] = base62[digit.Int64()]
	}
	return string(out)
}

// base62Value maps each digit of base 62 to its value, and every other byte to -1.
var base62Value = func() (values [256]int8) {
	for i := range values {
		values[i] = int8(strings.IndexByte(base62, byte(i)))
	}
	return values
}()

// WellFormed reports whether a text has the form and the checksum of a key, and returns the world (live or
// sandbox) of the key. It costs less than a hash, and rejects mistyped keys and most guessed keys.
func WellFormed(key string) (schema.World, bool) {
	if len(key) != keyWidth {
		return 0, false
	}
	world := schema.Live
	switch key[:keyPrefixWidth] {
	case livePrefix:
	case sandboxPrefix:
		world = schema.Sandbox
	default:
		return 0, false
	}
	sum := ^uint32(0)
	for i := range keyBodyWidth {
		if i >= keyPrefixWidth && base62Value[key[i]] < 0 {
			return 0, false
		}
		sum = crc32.IEEETable[byte(sum)^key[i]] ^ sum>>8 // crc32.ChecksumIEEE would need a []byte on the heap
	}
	check := uint64(0)
	for i := keyBodyWidth; i < keyWidth; i++ {
		digit := base62Value[key[i]]
		if digit < 0 {
			return 0, false
		}
		check = 62*check + uint64(digit)
	}
	return world, check == uint64(^sum)
}

// Hash returns the SHA-256 of a key. The store keeps only the hash.
func Hash(key string) [sha256.Size]byte {
	var room [64]byte // keeps the bytes on the stack
	return sha256.Sum256(append(room[:0], key...))
}
