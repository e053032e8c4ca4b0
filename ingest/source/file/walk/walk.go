// Package walk finds those files in a folder that may contain data.
package walk

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// unfinished are the endings of file names that programs use while they still write to a file.
var unfinished = []string{".part", ".tmp", ".partial", ".crdownload", ".swp", "~"}

// Files calls `visit` for each regular file in a folder and its subfolders, in lexical order. It omits hidden files and
// folders, and unfinished files. If it cannot read a path, it calls the function `skip` and continues. It returns an
// error if the folder itself cannot be read, if `visit` fails, or if ctx ends.
func Files(ctx context.Context, root string, visit func(path string, info fs.FileInfo) error, skip func(path string, err error)) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if err != nil && path == root {
			return err
		}
		if err != nil {
			skip(path, err)
			return nil
		}
		name := d.Name()
		hidden := strings.HasPrefix(name, ".") && path != root
		if d.IsDir() {
			if hidden {
				return fs.SkipDir
			}
			return nil
		}
		if hidden || !d.Type().IsRegular() || slices.ContainsFunc(unfinished, func(end string) bool { return strings.HasSuffix(name, end) }) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			skip(path, err)
			return nil
		}
		return visit(path, info)
	})
}
