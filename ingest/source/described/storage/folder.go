package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"vayu/ingest"
	"vayu/ingest/source/file/walk"
)

// Folder is a local folder, including its subfolders.
type Folder struct {
	Root   string
	Settle time.Duration // how long a file must be unchanged; until then, a program may still be writing to it
	Limit  int64         // largest size of a file in bytes
	Clock  func() time.Time
}

// List implements [Storage]. It lists the whole folder, and ignores the address. A missing folder is an error.
func (f *Folder) List(ctx context.Context, _ string, visit func(Object) error) error {
	now := f.Clock()
	var unreadable []Object
	err := walk.Files(ctx, f.Root, func(path string, info fs.FileInfo) error {
		// A file with a time far in the future is not being written: another clock or a program has set that time.
		if now.Sub(info.ModTime()).Abs() < f.Settle {
			return nil
		}
		relative, err := filepath.Rel(f.Root, path)
		if err != nil {
			return err
		}
		return visit(Object{Path: filepath.ToSlash(relative), Version: versionOf(info)})
	}, func(path string, err error) {
		if !errors.Is(err, fs.ErrNotExist) { // if it does not exist, it was deleted meanwhile
			unreadable = append(unreadable, Object{Path: filepath.Base(path), Err: err})
		}
	})
	for _, o := range unreadable {
		if err == nil {
			err = visit(o)
		}
	}
	if err != nil {
		return fmt.Errorf("reading the folder: %w", err)
	}
	return nil
}

// versionOf returns the size and the modification time of a file as a text. The text changes when the content changes.
func versionOf(info fs.FileInfo) string {
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
}

// Open implements [Storage].
func (f *Folder) Open(_ context.Context, o Object, known string) (*Local, error) {
	path := filepath.Join(f.Root, filepath.FromSlash(o.Path))
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrMissing
	case err != nil:
		return nil, err
	case versionOf(info) == known:
		return nil, ErrUnchanged
	case info.Size() > f.Limit:
		return nil, ingest.BadReplyf("the file exceeds %d bytes", f.Limit)
	}
	return &Local{Path: path, Version: versionOf(info)}, nil
}
