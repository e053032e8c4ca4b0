// Package imports implements the commands that import files, and prints their results.
package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"vayu/ingest"
	"vayu/ingest/journal"
	"vayu/ingest/loader"
	"vayu/ingest/preview"
	"vayu/ingest/runner"
	"vayu/ingest/source"
	"vayu/ingest/source/file"
	"vayu/schema"
)

// Source is the name of the source under which imported readings are stored.
const Source = "import"

// shownReadings is how many readings of a file a dry run shows.
const shownReadings = 10

// Try reads a file and prints what an import would store.
func Try(ctx context.Context, out io.Writer, open file.Opener, path string) error {
	f, err := open(path, 0)
	if err != nil {
		return err
	}
	sample, err := runner.FetchSample(ctx, f, ingest.Window{To: time.Now()}, shownReadings)
	_, _ = fmt.Fprintf(out, "%s: %s\n", path, f.Format())
	if err == nil && sample.Count == 0 {
		err = &runner.NothingStoredError{Rejected: sample.Rejected}
	}
	return errors.Join(preview.Sample(out, sample), err)
}

// Each calls the function `do` with each file. After an error, it prints the error and continues with the next file.
// If ctx has ended, it returns the error instead. At the end, its error states how many files failed.
func Each(ctx context.Context, out io.Writer, paths []string, do func(path string) error) error {
	failed := 0
	for _, path := range paths {
		if err := do(path); err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("interrupted; run the same command again to continue: %w", err)
			}
			failed++
			_, _ = fmt.Fprintf(out, "%s: %v\n", path, err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d files could not be imported", failed, len(paths))
	}
	return nil
}

// All imports files into the live world in order, and returns the number of stored readings. `dir` is the data
// directory, which keeps the progress of interrupted imports.
func All(ctx context.Context, out io.Writer, conn driver.Conn, all *source.Catalogue, dir string, paths []string) (stored int, err error) {
	store, record := loader.New(conn, schema.Live.Database()), journal.New(conn, schema.OpsDatabase, schema.Live)
	importer := runner.NewImporter(store, record, filepath.Join(dir, "import"))
	err = Each(ctx, out, paths, func(path string) error {
		n, err := File(ctx, out, importer, all.Opener(Source, time.Now), path)
		stored += n
		return err
	})
	return stored, err
}

// File imports one file and returns the number of readings that it has stored.
func File(ctx context.Context, out io.Writer, importer *runner.Importer, open file.Opener, path string) (int, error) {
	key, err := runner.FileKey(path)
	if err != nil {
		return 0, err
	}
	var (
		current *file.File
		bar     = noBar
	)
	summary, err := importer.Import(ctx, runner.Job{
		Key: key, Source: Source,
		Open: func(position int64) (ingest.Source, error) {
			if current, err = open(path, position); err != nil {
				return nil, err
			}
			bar = newBar(filepath.Base(path), current)
			return current, nil
		},
		Progress: func(runner.Summary) { bar() },
	})
	if current == nil {
		return 0, err
	}
	preview.Summary(out, path, current.Format(), summary)
	return summary.Stored, err
}

func noBar() {}

// newBar returns a function that updates a progress bar. If stderr is no terminal, the function does nothing.
func newBar(name string, f *file.File) func() {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return noBar
	}
	bar := progressbar.NewOptions64(f.Size(), progressbar.OptionSetDescription(name), progressbar.OptionShowBytes(true),
		progressbar.OptionSetWriter(os.Stderr), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
	return func() { _ = bar.Set64(f.Read()) } // a failing progress bar must not end an import
}
