package encryption

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"vayu/internal/atomicfile"
)

// keyName is the name of the key file in the data directory.
const keyName = "encryption.key"

// errKeyText does not quote the invalid text, because that text may be most of a key.
var errKeyText = fmt.Errorf("it is not %d bytes in base64 (such as `openssl rand -base64 32` prints)", keySize)

// parseKey parses a key in base64, from the configuration or the key file.
func parseKey(text string) ([]byte, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(text))
	if err != nil || len(raw) != keySize {
		return nil, errKeyText
	}
	return raw, nil
}

// readKey reads a key file. It fails if the file is damaged, or accessible to users other than its owner and group. A
// new key must not replace a damaged file, because then the encrypted values could never be decrypted.
func readKey(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o007 != 0 {
		return nil, fmt.Errorf("%s is readable by other users; run chmod 600 on it", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key, err := parseKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; restore it from a backup, because only this key can decrypt the store", path, err)
	}
	return key, nil
}

// makeKey creates the key file in dir. If several processes call makeKey concurrently, one of them creates the file.
// The result `made` reports whether this process created it.
func makeKey(dir string) (made bool, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	err = writeKey(newKey(), filepath.Join(dir, keyName))
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

func newKey() []byte {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	return key
}

// writeKey writes a key to a temporary file and then links it to path. Therefore a file named path is always
// complete and durable. The error is fs.ErrExist if path exists.
func writeKey(key []byte, path string) error {
	dir := filepath.Dir(path)
	draft, err := os.CreateTemp(dir, keyName+".*") // with the mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft.Name()) }()
	_, err = draft.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err := errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return err
	}
	if err := os.Link(draft.Name(), path); err != nil {
		return err
	}
	return atomicfile.SyncFolder(dir)
}

// nextName returns the file name for the new key of a rotation. The name contains the id of the new key, so
// that a rotation never overwrites another key.
func nextName(id string) string { return keyName + ".next-" + id }

// adopt reloads the key file. The store's key has the id `owner`. If the key file is missing or has another key, a
// killed rotation may have written the store's key to the file [nextName]. In that case adopt renames that file to
// the key file and loads it. Several processes may call adopt at once.
func (b *Cipher) adopt(owner string) error {
	err := b.readFile() // another process may have replaced the file
	if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && b.KeyID() == owner {
		return err
	}
	if !isKeyID(owner) { // owner becomes part of a file name
		return nil
	}
	next := filepath.Join(b.dir, nextName(owner))
	key, err := readKey(next)
	if errors.Is(err, fs.ErrNotExist) {
		return b.rereadFile()
	}
	if err != nil {
		return fmt.Errorf("reading the encryption key that the store names: %w", err)
	}
	if id := idOf(key); hex.EncodeToString(id[:]) != owner {
		return fmt.Errorf("%s contains another encryption key than its name states", next)
	}
	if err := os.Rename(next, filepath.Join(b.dir, keyName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("putting the encryption key in its place: %w", err)
	}
	if err := atomicfile.SyncFolder(b.dir); err != nil {
		return fmt.Errorf("putting the encryption key in its place: %w", err)
	}
	return b.rereadFile()
}

// isKeyID reports whether a text has the form of a key id.
func isKeyID(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == idSize
}

// rereadFile calls readFile, and ignores the error if the file does not exist.
func (b *Cipher) rereadFile() error {
	if err := b.readFile(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
