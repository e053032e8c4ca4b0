package encryption

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vayu/internal/config"
)

const place = "api_key.signing_secret:key_1"

func testBox(t testing.TB, fill byte) *Cipher {
	t.Helper()
	b, err := Open(config.NewSecret(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, keySize))), "")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDecryptNeedsSamePlaceAndKey(t *testing.T) {
	t.Parallel()
	b := testBox(t, 1)
	sealed := b.Encrypt([]byte("sgn_secret"), place)
	if bytes.Contains(sealed, []byte("secret")) {
		t.Error("the text can be read")
	}
	if got, err := b.Decrypt(sealed, place); err != nil || string(got) != "sgn_secret" {
		t.Errorf("got %q, %v", got, err)
	}
	if again := b.Encrypt([]byte("sgn_secret"), place); bytes.Equal(again, sealed) {
		t.Error("the same text gives the same value twice")
	}
	if _, err := b.Decrypt(sealed, "api_key.signing_secret:key_2"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("in another place: %v", err)
	}
	if _, err := testBox(t, 2).Decrypt(sealed, place); !errors.Is(err, ErrWrongKey) {
		t.Errorf("with another key: %v", err)
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := b.Decrypt(changed, place); err == nil {
			t.Errorf("byte %d was changed and it opens", i)
		}
	}
	for n := range sealed {
		if _, err := b.Decrypt(sealed[:n], place); err == nil {
			t.Errorf("cut to %d bytes it opens", n)
		}
	}
}

// Stored values must remain readable. This one was made with XChaCha20-Poly1305 and the nonce ABC….
func TestAStoredValueStillOpens(t *testing.T) {
	t.Parallel()
	stored, err := hex.DecodeString("0172cd6e844142434445464748494a4b4c4d4e4f5051525354555657588e75583251bec294e8a6130ebf745f48b25065042a41142ff793")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := testBox(t, 1).Decrypt(stored, place); err != nil || string(got) != "sgn_secret" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestABadKeyIsRefusedWithoutShowingIt(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"c2hvcnQ=", "not base64 at all", strings.Repeat("A", 100)} {
		_, err := Open(config.NewSecret(text), t.TempDir())
		if err == nil || strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), "encryption-key") {
			t.Errorf("got %v", err)
		}
	}
}

func TestADamagedKeyFileIsNeverReplaced(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "AAAA", "something else"} {
		dir := t.TempDir()
		path := filepath.Join(dir, keyName)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(config.Secret{}, dir)
		if err == nil || !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: got %v", text, err)
		}
		if left, _ := os.ReadFile(path); string(left) != text {
			t.Errorf("%q was replaced by %q", text, left)
		}
	}
}

func TestReadableKeyFileIsRejected(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := makeKey(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, keyName), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(config.Secret{}, dir); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("got %v", err)
	}
}

// No stored value causes a panic, and only encrypted values can be decrypted.
func FuzzOpen(f *testing.F) {
	b := testBox(f, 1)
	good := b.Encrypt([]byte("text"), place)
	f.Add(good, place)
	f.Add(good[:headSize], place)
	f.Add([]byte{}, "")
	f.Add([]byte{formVersion, 1, 2, 3, 4}, place)
	f.Fuzz(func(t *testing.T, sealed []byte, about string) {
		plain, err := b.Decrypt(sealed, about)
		if err == nil && (!bytes.Equal(sealed, good) || about != place || string(plain) != "text") {
			t.Errorf("%x opens for %q", sealed, about)
		}
	})
}
