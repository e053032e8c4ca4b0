// Package backupfile writes and reads the files of a backup: data in zstd with a checksum, and a manifest in
// JSON. The manifest is written last, so that a folder with a manifest is a complete backup.
package backupfile

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"vayu/internal/atomicfile"
)

// Manifest is the file name of the manifest.
const Manifest = "manifest.json"

// ErrDamaged means that a file differs from what was written.
var ErrDamaged = errors.New("the file is damaged")

// NewFolder creates the folder of a backup. It fails if the folder exists and is not empty.
func NewFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the folder of the backup: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%q is not empty: a backup needs a folder of its own", dir)
	}
	return err
}

// Sum has a data file's sizes and checksum.
type Sum struct {
	Bytes, Raw int64  // size of the file, and of its data before compression
	SHA256     string // checksum of the file, hexadecimal
}

// Write creates a new data file and calls `write` to produce its content. When Write succeeds, the
// content is durable, and only the owner can read the file. After an error Write removes the new file.
func Write(path string, write func(io.Writer) error) (sum Sum, err error) {
	hash := sha256.New()
	var size, raw counter
	err = create(path, func(file io.Writer) error {
		packed, err := zstd.NewWriter(io.MultiWriter(file, hash, &size), zstd.WithEncoderConcurrency(2)) // one block is compressed while write produces the next
		if err != nil {
			return err
		}
		err = write(io.MultiWriter(packed, &raw))
		return errors.Join(err, packed.Close())
	})
	return Sum{Bytes: int64(size), Raw: int64(raw), SHA256: hex.EncodeToString(hash.Sum(nil))}, err
}

// Read calls `read` with the decompressed data of a file. Then it returns an error unless the file's SHA-256 is `want`.
// The caller must discard the data if Read fails.
func Read(path, want string, read func(io.Reader) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	raw := io.TeeReader(bufio.NewReaderSize(file, 256<<10), hash)
	plain, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	defer plain.Close()
	if err := read(plain); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, raw); err != nil {
		return err
	}
	return compare(hex.EncodeToString(hash.Sum(nil)), want)
}

// Verify returns an error unless the SHA-256 of a file is `want`.
func Verify(path, want string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return err
	}
	if err := compare(hex.EncodeToString(hash.Sum(nil)), want); err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	return nil
}

func compare(got, want string) error {
	if got != want {
		return fmt.Errorf("%w: it has the SHA-256 %s, and the manifest has %s", ErrDamaged, got, want)
	}
	return nil
}

// WriteManifest writes the manifest of a backup folder. Then it syncs the folder, so that the names of its files are
// durable. It does not sync subfolders.
func WriteManifest(dir string, manifest any) error {
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, Manifest), func(file *os.File) error {
		_, err := file.Write(append(text, '\n'))
		return err
	})
}

// ReadManifest reads the manifest of a folder. If the folder has no manifest, the backup is
// incomplete, and ReadManifest fails.
func ReadManifest(dir string, manifest any) error {
	path := filepath.Join(dir, Manifest)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is no whole backup: it has no %s: %w", dir, Manifest, err)
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, manifest); err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	return nil
}

// create writes a new file, and syncs its content. After an error it removes the new file.
func create(path string, write func(io.Writer) error) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	buffer := bufio.NewWriterSize(file, 256<<10)
	if err := write(buffer); err != nil {
		return err
	}
	if err := buffer.Flush(); err != nil {
		return err
	}
	return file.Sync()
}

// counter counts the bytes that are written to it.
type counter int64

// Write adds the length of p to the count. It implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
