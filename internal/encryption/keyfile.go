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
)

// keyName is the file of the key in the data directory.
const keyName = "encryption.key"

// errKeyText has no word of the text: it may be most of a key.
var errKeyText = fmt.Errorf("it is not %d bytes in base64 (such as `openssl rand -base64 32` prints)", keySize)

// parseKey reads a key as it stands in the configuration and in the file.
func parseKey(text string) ([]byte, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(text))
	if err != nil || len(raw) != keySize {
		return nil, errKeyText
	}
	return raw, nil
}

// readKey reads a key file. One that cannot be read as a key is never replaced,
// because what it sealed would be lost with it.
func readKey(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o007 != 0 {
		return nil, fmt.Errorf("%s can be read by everybody; chmod 600 makes it the owner's alone", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key, err := parseKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; put the right file back from a backup, since nothing else opens what it has sealed", path, err)
	}
	return key, nil
}

// makeKey puts a new key in its place, which only the first of several processes
// can do: made tells whether it was this one.
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

// newKey is a key that nobody has.
func newKey() []byte {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	return key
}

// writeKey writes a key under a name of its own and then gives it the one it
// should have: the file is whole and on disk before it has that. An error that is
// fs.ErrExist says that there is such a file.
func writeKey(key []byte, path string) error {
	dir := filepath.Dir(path)
	draft, err := os.CreateTemp(dir, keyName+".*") // 0600
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
	return syncFolder(dir)
}

// syncFolder puts the names of files on disk.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// nextName is the file of a key that is to follow, or has followed, that of
// keyName: each has a name of its own, so that none is ever written over.
func nextName(id string) string { return keyName + ".next-" + id }

// adopt reads the key file again, and puts the key that the store names in its
// place when that lies beside it. Two may do so at once. Without such a key
// nothing happens.
func (b *Box) adopt(owner string) error {
	err := b.readFile() // another process may have made it, or put it there
	if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && b.KeyID() == owner {
		return err
	}
	if !isKeyID(owner) { // it would become a name
		return nil
	}
	next := filepath.Join(b.dir, nextName(owner))
	key, err := readKey(next)
	if errors.Is(err, fs.ErrNotExist) {
		return b.again()
	}
	if err != nil {
		return fmt.Errorf("reading the encryption key that the store names: %w", err)
	}
	if id := idOf(key); hex.EncodeToString(id[:]) != owner {
		return fmt.Errorf("%s holds another encryption key than its name says", next)
	}
	if err := os.Rename(next, filepath.Join(b.dir, keyName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("putting the encryption key in its place: %w", err)
	}
	if err := syncFolder(b.dir); err != nil {
		return fmt.Errorf("putting the encryption key in its place: %w", err)
	}
	return b.again()
}

// isKeyID reports whether a text has the form of a key's id.
func isKeyID(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == idSize
}

// again is readFile for a file that may be absent still.
func (b *Box) again() error {
	if err := b.readFile(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
