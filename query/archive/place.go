package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"vayu/query/dataset"
)

// These are the errors of reading and writing an archive.
var (
	// ErrMissing means that an archive has no such file.
	ErrMissing = errors.New("the archive has no such file")
	// ErrBusy means that another run is writing the archive, or has replaced its manifest since this run read it.
	ErrBusy = errors.New("another run writes the archive")
)

// Place is where an archive is: a folder or a bucket. It serves one run or one reader at a time.
type Place interface {
	Reader
	Writer
}

// Reader reads an archive.
type Reader interface {
	// Open reads a file. The error is ErrMissing if there is none.
	Open(ctx context.Context, path string) (io.ReadCloser, error)
	// List returns the size of each file, by path. It returns only files whose paths have the form that runs use.
	List(ctx context.Context) (map[string]int64, error)
	// Settle completes a run that was interrupted after its manifest was durable. It changes nothing else.
	Settle(ctx context.Context) error
}

// Writer changes an archive. A run calls Begin, Put for each new file, Commit, Remove and End.
type Writer interface {
	// Begin prepares a run, and does the same as Settle. If Begin succeeds, the caller must call End, even if the run
	// fails.
	Begin(ctx context.Context) error
	// Put stores a new file, or new content of a file. Readers see it only after Commit.
	Put(ctx context.Context, path string, write func(io.Writer) error) (Stored, error)
	// Commit replaces the manifest, so that readers see the files that Put has stored. If it fails, either the last
	// archive stays valid, or the next run or reader completes this run. The error is ErrBusy if another run has
	// replaced the manifest since it was read.
	Commit(ctx context.Context, manifest []byte) error
	// Remove removes files that the manifest lacks.
	Remove(ctx context.Context, paths []string) error
	// End removes what Put has stored without a Commit, and lets other runs begin.
	End(ctx context.Context) error
}

// Stored is a file that Put has stored. SHA256 is its checksum in hexadecimal.
type Stored struct {
	Path   string
	Bytes  int64
	SHA256 string
}

// remote matches the beginning of an address that is a URL, not a folder. It also matches misspelt addresses
// such as s3:/bucket.
var remote = regexp.MustCompile(`^(?:s3:|[a-zA-Z0-9]+:/)`)

// PlaceAt returns the archive at an address: a folder, or s3://bucket/prefix with the variables of [NewBucket].
func PlaceAt(address string, env func(string) string) (Place, error) {
	if remote.MatchString(address) {
		return NewBucket(address, env)
	}
	return NewFolder(address), nil
}

// monthPath and wholePath are the forms of the paths in an archive. A bucket adds the name of the run to a file's name.
var (
	monthPath = regexp.MustCompile(`^([a-z_]+)/year=(\d{4})/month=(\d{2})/([a-z_]+)-(\d{4})-(\d{2})(?:-[0-9a-z]+)?\.parquet$`)
	wholePath = regexp.MustCompile(`^([a-z_]+)/([a-z_]+)(?:-[0-9a-z]+)?\.parquet$`)
)

// archived reports whether a path has the form of a file of a run, and names a table that is archived.
func archived(path string) bool {
	table := ""
	if m := monthPath.FindStringSubmatch(path); len(m) > 0 && m[1] == m[4] && m[2] == m[5] && m[3] == m[6] {
		table = m[1]
	}
	if m := wholePath.FindStringSubmatch(path); len(m) > 0 && m[1] == m[2] {
		table = m[1]
	}
	return slices.ContainsFunc(dataset.Archived(), func(t dataset.Table) bool { return t.Name == table })
}

// pathOf returns the file of a month. Month 0 stands for a table without time.
func pathOf(table string, month uint32) File {
	if month == 0 {
		return File{Path: table + "/" + table + ".parquet"}
	}
	text := fmt.Sprintf("%04d-%02d", month/100, month%100)
	return File{Path: fmt.Sprintf("%s/year=%04d/month=%02d/%s-%s.parquet", table, month/100, month%100, table, text), Month: text}
}
