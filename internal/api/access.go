package api

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"hash/crc32"
	"math/big"
	"net/http"
	"strings"

	"vayu/schema"
)

// Principal is whom a request speaks for.
type Principal struct {
	World   schema.World
	Account string
	Key     string // identity of the key, never the key itself
}

// Authenticator decides who may call a route. It is the one door of access: a
// *schema.Problem that it returns is the client's answer. It is called by many
// goroutines at once.
type Authenticator interface {
	Authenticate(r *http.Request, scope string) (Principal, error)
}

// Keys is an Authenticator that knows one key for each world. Only the SHA-256
// of a key is kept.
type Keys struct {
	hash [len(schema.Worlds)][sha256.Size]byte
}

// NewKeys returns the door for two keys. They must be different, and printable
// ASCII without blanks, because a header could not carry them otherwise. Keys
// that operators make up need not have the form of [NewKey].
func NewKeys(live, sandbox string) (*Keys, error) {
	for _, key := range [...]string{live, sandbox} {
		if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			return nil, errors.New("an API key is printable ASCII without blanks, and not empty")
		}
	}
	if live == sandbox {
		return nil, errors.New("the live and the sandbox key must be different")
	}
	return &Keys{hash: [...][sha256.Size]byte{
		schema.Live:    sha256.Sum256([]byte(live)),
		schema.Sandbox: sha256.Sum256([]byte(sandbox)),
	}}, nil
}

// Authenticate implements Authenticator: both keys have every scope.
func (k *Keys) Authenticate(r *http.Request, _ string) (Principal, error) {
	key, err := BearerKey(r)
	if err != nil {
		return Principal{}, err
	}
	sum := sha256.Sum256([]byte(key))
	live := subtle.ConstantTimeCompare(sum[:], k.hash[schema.Live][:])
	sandbox := subtle.ConstantTimeCompare(sum[:], k.hash[schema.Sandbox][:])
	switch {
	case live == 1:
		return Principal{World: schema.Live, Account: "live", Key: "live"}, nil
	case sandbox == 1:
		return Principal{World: schema.Sandbox, Account: "sandbox", Key: "sandbox"}, nil
	}
	return Principal{}, schema.Refuse(schema.Unauthorized, "", "The API key is not known.")
}

// BearerKey returns the key of the request's one Authorization header. The
// scheme's name may be written in any case (RFC 9110, 11.1).
func BearerKey(r *http.Request) (string, error) {
	values := r.Header["Authorization"]
	if len(values) == 0 {
		return "", schema.Refuse(schema.Unauthorized, "", "Send your API key in the header Authorization: Bearer <key>.")
	}
	scheme, key, _ := strings.Cut(values[0], " ")
	key = strings.TrimSpace(key)
	if len(values) > 1 || !strings.EqualFold(scheme, "bearer") || key == "" {
		return "", schema.Refuse(schema.Unauthorized, "", "The Authorization header must be: Bearer <key>.")
	}
	return key, nil
}

// base62 digits, in the order of their values.
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Widths of a key's two parts: 62^33 > 2^192 and 62^6 > 2^32.
const (
	keySecretWidth = 33
	keyCheckWidth  = 6
)

// NewKey makes a key of a world: "sk_live_" or "sk_test_", 24 random bytes in
// base62, and 6 characters of CRC-32 over all before them, by which scanners
// tell a key from a string that merely looks like one.
func NewKey(world schema.World) string {
	var secret [24]byte
	_, _ = rand.Read(secret[:]) // never fails: it ends the program instead
	key := keyPrefix(world) + base62Text(new(big.Int).SetBytes(secret[:]), keySecretWidth)
	return key + keyCheck(key)
}

func keyPrefix(world schema.World) string {
	if world == schema.Sandbox {
		return "sk_test_"
	}
	return "sk_live_"
}

func keyCheck(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	return base62Text(new(big.Int).SetUint64(uint64(sum)), keyCheckWidth)
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
