package seal

import (
	"crypto/rand"
	"encoding/base64"
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

// makeKey writes a new key under a name of its own and then gives it its place,
// which only the first of several processes can do: made tells whether it was
// this one. The file is whole and on disk before it has its name.
func makeKey(dir string) (made bool, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	draft, err := os.CreateTemp(dir, keyName+".*") // 0600
	if err != nil {
		return false, err
	}
	defer func() { _ = os.Remove(draft.Name()) }()
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	_, err = draft.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err := errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return false, err
	}
	err = os.Link(draft.Name(), filepath.Join(dir, keyName))
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return true, err
	}
	return true, errors.Join(folder.Sync(), folder.Close())
}
