// Package storage lists and opens the files in a folder, on a web server, or in an S3-compatible object storage.
package storage

import (
	"context"
	"errors"
	"os"

	"vayu/ingest/fetch"
)

// Object is a file in a storage.
type Object struct {
	// Path identifies the file. It is the path in the folder (with slashes), the URL without the query, or the key in
	// the bucket.
	Path string
	// Version changes when the content of the file changes. It is "" if the storage states a version only when a file
	// is opened.
	Version string
	// Err is the error of a path that cannot be listed, such as a folder without permission, or nil for a listed file.
	Err error

	address string // URL of the file on a web server; it may contain a key
}

// Storage is a place with files. Its methods are safe for concurrent use.
type Storage interface {
	// List calls `visit` for each file at an address: a path, URL or prefix, without fields such as {yyyy}. If `visit`
	// returns an error, List returns it. An address without files is no error, but a missing folder or bucket is one.
	List(ctx context.Context, address string, visit func(Object) error) error
	// Open makes a file readable at a local path. `known` is the version of the file that was read earlier, or "" if
	// there is none. The error is [ErrUnchanged] if the file still has that version, and [ErrMissing] if the file does
	// not exist. It is an [*ingest.BatchError] if the file is too large, or if a web page was downloaded instead.
	Open(ctx context.Context, o Object, known string) (*Local, error)
}

// Errors of [Storage.Open].
var (
	ErrUnchanged = errors.New("the file has not changed")
	ErrMissing   = errors.New("the file does not exist")
)

// Local is a file that can be read at a local path.
type Local struct {
	Path    string
	Version string // version of the content
	remove  bool
}

// Close removes the local file if it is a downloaded copy.
func (l *Local) Close() {
	if l.remove {
		_ = os.Remove(l.Path) // if it remains, the operating system removes it with other temporary files
	}
}

// Client sends requests within the call budget of a source.
type Client interface {
	// Get returns a complete reply. Its errors are those of [fetch.Client.Do].
	Get(ctx context.Context, r fetch.Request) (*fetch.Reply, error)
	// Download writes the body of a reply, at most `limit` bytes, to the file `to`. Its results are those of
	// [fetch.Client.Download].
	Download(ctx context.Context, r fetch.Request, to *os.File, limit int64) (reply *fetch.Reply, modified bool, err error)
}

// download creates a temporary file and calls `write`. That function fills the file and returns the version of the
// content.
func download(write func(*os.File) (version string, err error)) (*Local, error) {
	f, err := os.CreateTemp("", "vayu-file-*")
	if err != nil {
		return nil, err
	}
	l := &Local{Path: f.Name(), remove: true}
	l.Version, err = write(f)
	if err = errors.Join(err, f.Close()); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}
