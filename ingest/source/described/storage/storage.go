// Package storage lists and opens files of a folder, of a web server, or of an
// S3-compatible object storage.
package storage

import (
	"context"
	"errors"
	"os"

	"vayu/ingest/fetch"
)

// Object is a file of a storage.
type Object struct {
	// Path identifies the file: the path in the folder with slashes, the URL without its
	// query, or the key in the bucket.
	Path string
	// Version changes with the content; "" if the storage has none before the file is opened.
	Version string
	// Err is why the path cannot be read, such as a folder without permission; nil for a file.
	Err error

	address string // of the file on a web server; may contain a key
}

// Storage is a place with files. Its methods are safe for concurrent use.
type Storage interface {
	// List calls visit with the files below an address: a text without fields of the
	// description, such as a prefix. A missing place is empty. Errors of visit end List.
	List(ctx context.Context, address string, visit func(Object) error) error
	// Open makes a file readable at a path of this machine. known is the version that was
	// read before, "" for none. The error is [ErrUnchanged] if the file still has that
	// version, [ErrMissing] if it does not exist, or an [*ingest.BatchError] if it is too
	// large or a web page.
	Open(ctx context.Context, o Object, known string) (*Local, error)
}

// Errors of [Storage.Open].
var (
	ErrUnchanged = errors.New("the file has not changed")
	ErrMissing   = errors.New("the file does not exist")
)

// Local is a file of this machine.
type Local struct {
	Path    string
	Version string // of the content
	remove  bool
}

// Close removes a downloaded file.
func (l *Local) Close() {
	if l.remove {
		_ = os.Remove(l.Path) // the operating system empties the folder of temporary files
	}
}

// Client sends requests within the budget of a description.
type Client interface {
	// Get returns a whole reply. Its errors are those of [fetch.Client.Do].
	Get(ctx context.Context, r fetch.Request) (*fetch.Reply, error)
	// Download writes a reply of at most limit bytes. Its results are those of
	// [fetch.Client.Download].
	Download(ctx context.Context, r fetch.Request, to *os.File, limit int64) (reply *fetch.Reply, modified bool, err error)
}

// download writes a file into a new temporary file. write returns the version of the content.
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
