package apikey

import (
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"strings"
	"testing"

	"vayu/schema"
)

func TestKeyForm(t *testing.T) {
	t.Parallel()
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	for w, prefix := range map[schema.World]string{schema.Live: "sk_live_", schema.Sandbox: "sk_test_"} {
		key := Mint(w)
		secret, ours := strings.CutPrefix(key, prefix)
		switch {
		case !ours:
			t.Fatal("ours is false")
		case len(secret) != 33+6:
			t.Fatalf("len(secret) = %v, want %v", len(secret), 33+6)
		case strings.Trim(secret, digits) != "":
			t.Fatalf("strings.Trim(secret, digits) = %q, want none", strings.Trim(secret, digits))
		case key == Mint(w):
			t.Fatalf("%s is no key of %s", key, w)
		}
		check := uint64(0)
		for _, r := range secret[33:] {
			check = 62*check + uint64(strings.IndexRune(digits, r))
		}
		if want := crc32.ChecksumIEEE([]byte(key[:len(key)-6])); check != uint64(want) {
			t.Errorf("%s: the check is %d, want %d", key, check, want)
		}
		if got, ok := WellFormed(key); !ok || got != w {
			t.Errorf("%s: read as %s, %t", key, got, ok)
		}
		if Hash(key) != sha256.Sum256([]byte(key)) {
			t.Errorf("%s: another hash", key)
		}
	}
}

func TestKeyThatWasChangedIsNone(t *testing.T) {
	t.Parallel()
	key := Mint(schema.Live)
	for i := range len(key) {
		for _, c := range []byte("0zZ!\x00\xff") {
			wrong := []byte(key)
			if wrong[i] == c {
				continue
			}
			wrong[i] = c
			if _, ok := WellFormed(string(wrong)); ok {
				t.Errorf("%q, changed at %d, was accepted", wrong, i)
			}
		}
	}
	for _, wrong := range []string{"", key[1:], key[:len(key)-1], key + "0", " " + key, strings.Repeat(key, 300), strings.ToUpper(key)} {
		if _, ok := WellFormed(wrong); ok {
			t.Errorf("%q was accepted", wrong)
		}
	}
}

func FuzzWellFormed(f *testing.F) {
	f.Add(Mint(schema.Live))
	f.Add(Mint(schema.Sandbox))
	f.Add("sk_live_")
	f.Add("sk_test_" + strings.Repeat("z", 39))
	f.Fuzz(func(t *testing.T, key string) {
		world, ok := WellFormed(key)
		if !ok {
			return
		}
		body := key[:len(key)-6]
		if len(key) != 47 || (world == schema.Sandbox) != strings.HasPrefix(key, "sk_test_") ||
			!strings.HasSuffix(key, base62Text(new(big.Int).SetUint64(uint64(crc32.ChecksumIEEE([]byte(body)))), 6)) {
			t.Errorf("%q was accepted as a key of %s", key, world)
		}
	})
}
