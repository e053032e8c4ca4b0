package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow/go/v15/parquet/file"
)

// Report is the result of [Verify].
type Report struct {
	Manifest Manifest
	Files    int
	Bytes    int64
	// Faults are the errors of the files that are missing or damaged.
	Faults []error
	// Unlisted are paths of files that the manifest lacks. An interrupted run has left them, and the next run removes them.
	Unlisted []string
}

// Verify reads every file of an archive, and compares its size, its checksum and its rows with the manifest. It calls
// `progress`, if not nil, after each file. Damaged files are not an error of Verify; the report has them.
func Verify(ctx context.Context, place Reader, progress func(File, error)) (Report, error) {
	m, err := open(ctx, place)
	if err != nil {
		return Report{}, err
	}
	r := Report{Manifest: m}
	for _, t := range m.Tables {
		for _, f := range t.Files {
			err := verify(ctx, place, f)
			if ctx.Err() != nil {
				return r, ctx.Err()
			}
			if err != nil {
				r.Faults = append(r.Faults, fmt.Errorf("%s: %w", f.Path, err))
			}
			r.Files++
			r.Bytes += f.Bytes
			if progress != nil {
				progress(f, err)
			}
		}
	}
	stored, err := place.List(ctx)
	if err != nil {
		return r, fmt.Errorf("listing the archive: %w", err)
	}
	for path := range stored {
		if !m.has(path) {
			r.Unlisted = append(r.Unlisted, path)
		}
	}
	return r, nil
}

// verify compares one file of an archive with its entry in the manifest.
func verify(ctx context.Context, place Reader, f File) error {
	local, err := fetch(ctx, place, f)
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(local.Close(), os.Remove(local.Name())) }()
	in, err := file.NewParquetReader(local)
	if err != nil {
		return err
	}
	if rows := in.NumRows(); rows != int64(f.Rows) {
		return fmt.Errorf("the file has %d rows, and the manifest has %d", rows, f.Rows)
	}
	return nil
}

// fetches is the maximum number of attempts to read a file whose transfer breaks off.
const fetches = 3

// fetch copies a file to a temporary file, and checks its size and checksum. The caller closes and removes the copy.
func fetch(ctx context.Context, place Reader, f File) (*os.File, error) {
	local, err := os.CreateTemp("", "vayu-restore-*")
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		err = copyFile(ctx, place, f, local)
		if err == nil || errors.Is(err, ErrMissing) || errors.Is(err, errDamaged) || try == fetches || ctx.Err() != nil {
			break
		}
	}
	if err == nil {
		_, err = local.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, local.Close(), os.Remove(local.Name()))
	}
	return local, nil
}

// errDamaged means that a file differs from its entry in the manifest.
var errDamaged = errors.New("the file is damaged, or a run was interrupted")

// copyFile replaces the content of `local` by that of the archive's file f.
func copyFile(ctx context.Context, place Reader, f File, local *os.File) error {
	in, err := place.Open(ctx, f.Path)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if _, err := local.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := local.Truncate(0); err != nil {
		return err
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(local, hash), in)
	if err != nil {
		return err
	}
	if n != f.Bytes {
		return fmt.Errorf("%w: it has %d bytes, and the manifest has %d", errDamaged, n, f.Bytes)
	}
	if sum := hex.EncodeToString(hash.Sum(nil)); sum != f.SHA256 {
		return fmt.Errorf("%w: its SHA-256 is %s, and the manifest has %s", errDamaged, sum, f.SHA256)
	}
	return nil
}
