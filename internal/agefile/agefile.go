// Package agefile encrypts and decrypts folders file by file, in the age format (age-encryption.org/v1).
package agefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"
)

// Suffix is the ending of an encrypted file's name.
const Suffix = ".age"

// Recipients parses public keys (age1…) for Encrypt. Blanks, commas or line breaks separate the keys.
func Recipients(text string) ([]age.Recipient, error) {
	lines := strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }), "\n")
	all, err := age.ParseRecipients(strings.NewReader(lines))
	if err != nil {
		return nil, fmt.Errorf("reading recipients of age: %w", err)
	}
	return all, nil
}

// Identities reads private keys for Decrypt from a file that age-keygen has written.
func Identities(path string) ([]age.Identity, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	all, err := age.ParseIdentities(file)
	if err != nil {
		return nil, fmt.Errorf("reading the identities of %s: %w", path, err)
	}
	return all, nil
}

// Encrypt encrypts every file below the folder `from`. It writes the result to the same path below the folder `to`,
// with [Suffix] appended. Encrypt syncs each new file, but not its folder. Only the owner can read the new files.
func Encrypt(from, to string, recipients []age.Recipient) error {
	return eachFile(from, func(name string) error {
		return convert(filepath.Join(from, name), filepath.Join(to, name+Suffix), func(in io.Reader, out io.Writer) error {
			plain, err := age.Encrypt(out, recipients...)
			if err != nil {
				return err
			}
			_, err = io.Copy(plain, in)
			return errors.Join(err, plain.Close())
		})
	})
}

// Decrypt decrypts every file with [Suffix] below the folder `from`. It writes the result to the same path below the
// folder `to`, without the suffix. An error names the file if it is damaged, or encrypted to none of the identities.
func Decrypt(from, to string, identities []age.Identity) error {
	return eachFile(from, func(name string) error {
		plain, encrypted := strings.CutSuffix(name, Suffix)
		if !encrypted {
			return nil
		}
		return convert(filepath.Join(from, name), filepath.Join(to, plain), func(in io.Reader, out io.Writer) error {
			text, err := age.Decrypt(in, identities...)
			if err != nil {
				return err
			}
			_, err = io.Copy(out, text)
			return err
		})
	})
}

// eachFile calls `do` with the relative name of every file below a folder.
func eachFile(dir string, do func(name string) error) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return do(name)
	})
}

// convert creates the file `to`. It calls `do` with the open file `from` and the new file.
func convert(from, to string, do func(in io.Reader, out io.Writer) error) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := do(in, out); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return out.Sync()
}
