package agefile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"vayu/internal/agefile"
)

// keyPair creates an identity file, and returns its path and its recipient.
func keyPair(t *testing.T) (path, recipient string) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "key.txt")
	if err := os.WriteFile(path, []byte("# a comment\n"+identity.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, identity.Recipient().String()
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDecryptNeedsTheIdentity(t *testing.T) {
	t.Parallel()
	path, recipient := keyPair(t)
	other, second := keyPair(t)
	plain, sealed := t.TempDir(), t.TempDir()
	files := map[string][]byte{"a": []byte("secret of a"), "b/c/d": bytes.Repeat([]byte("secret of d"), 20_000), "empty": nil}
	for name, text := range files {
		write(t, filepath.Join(plain, name), text)
	}
	recipients, err := agefile.Recipients(recipient)
	if err != nil {
		t.Fatal(err)
	}
	if err := agefile.Encrypt(plain, sealed, recipients); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(sealed, "note"), []byte("in clear"))
	for name := range files {
		text, err := os.ReadFile(filepath.Join(sealed, name+agefile.Suffix))
		if err != nil {
			t.Error(err)
		}
		if bytes.Contains(text, []byte("secret of")) {
			t.Errorf("%s is not encrypted: %q", name, text)
		}
	}
	identities, err := agefile.Identities(path)
	if err != nil {
		t.Fatal(err)
	}
	back := filepath.Join(t.TempDir(), "back")
	if err := agefile.Decrypt(sealed, back, identities); err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(back, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: got %d bytes, %v; want %d", name, len(got), err, len(want))
		}
	}
	if _, err := os.Stat(filepath.Join(back, "note")); err == nil {
		t.Error("a file that is not encrypted was copied")
	}

	strangers, err := agefile.Identities(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := agefile.Decrypt(sealed, t.TempDir(), strangers); err == nil || !strings.Contains(err.Error(), "a.age") {
		t.Errorf("another identity: got %v, want an error that names the file", err)
	}
	if err := os.Truncate(filepath.Join(sealed, "b", "c", "d.age"), 100_000); err != nil {
		t.Fatal(err)
	}
	if err := agefile.Decrypt(sealed, t.TempDir(), identities); err == nil || !strings.Contains(err.Error(), "d.age") {
		t.Errorf("a damaged file: got %v, want an error that names it", err)
	}
	if both, err := agefile.Recipients(recipient + ", " + second); err != nil || len(both) != 2 {
		t.Errorf("two recipients: got %d, %v", len(both), err)
	}
}

func TestInvalidKeysAreRejected(t *testing.T) {
	t.Parallel()
	path, recipient := keyPair(t)
	for _, text := range []string{"", "age1", "AGE-SECRET-KEY-1", recipient + "x"} {
		if _, err := agefile.Recipients(text); err == nil {
			t.Errorf("the recipient %q is taken", text)
		}
	}
	if _, err := agefile.Identities(path + ".not"); err == nil {
		t.Error("a file that does not exist is taken")
	}
	write(t, path, []byte(recipient))
	if _, err := agefile.Identities(path); err == nil {
		t.Error("a recipient is taken for an identity")
	}
}
