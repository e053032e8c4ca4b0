package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/ingest"
	"vayu/ingest/journal"
	"vayu/ingest/loader"
	"vayu/ingest/preview"
	"vayu/ingest/runner"
	"vayu/ingest/source/file"
	"vayu/schema"
)

// importSource is the source name of imported readings.
const importSource = "import"

// NewImport returns the command `vayu import`.
func NewImport() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "import FILE…",
		Short: "Load saved files into the live world; idempotent",
		Long: `Load saved files into the live world, also gzipped:
  CPCB's feed (XML); data.gov.in: downloads (CSV) and saved replies (JSON);
  CAAQM exports of one or several stations (CSV, Excel, JSON) and tables of many;
  CPCB's yearly files (Raw_data_1Hr_…csv, 15Min, 8Hrs, 1Day) and raw readings of one station (dates, PM25, …);
  OpenAQ: versions 1 and 2 (CSV), the archive (CSV), saved pages of version 3 (JSON);
  daily means of cities (city_day).
What a file holds is recognised from its content, also by the descriptions in DATA/sources. The station of a yearly file is in its name, or in a table
stations.csv (file,station) beside it. Replies of OpenAQ's /v3/locations beside a file (location*.json) give the
kind, licence and units of its stations.

A cell without a figure (NA, None, -999, empty) withdraws a figure that was stored for it. An import that stores
nothing exits with 1 and names the main reason. An import that was interrupted continues where it stopped when it
is run again. It works beside a running service, whose answers follow within seconds, and without one.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error {
			if dryRun {
				loaded, _, err := settings.Load(cmd)
				if err != nil {
					return err
				}
				all, err := loaded.Value.Catalogue()
				if err != nil {
					return err
				}
				return eachFile(cmd.Context(), cmd.OutOrStdout(), paths, func(path string) error {
					return tryFile(cmd.Context(), cmd.OutOrStdout(), all.Opener(importSource, time.Now), path)
				})
			}
			return tool.WithNewDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
				return importFiles(ctx, t, cmd.OutOrStdout(), paths)
			})
		},
	}
	settings.Bind(cmd.Flags(), "source-dir")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "store nothing; show the first readings and the rejected values of each file")
	return cmd
}

// shownReadings is how many readings of a file a dry run shows.
const shownReadings = 10

// tryFile reads a file and prints what an import would store.
func tryFile(ctx context.Context, out io.Writer, open file.Opener, path string) error {
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

// eachFile calls the function do with each file. After an error, eachFile prints the error and continues with the
// next file, unless ctx has ended.
func eachFile(ctx context.Context, out io.Writer, paths []string, do func(path string) error) error {
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

// importFiles imports files in order, and then computes hourly and daily values from their readings.
func importFiles(ctx context.Context, t *tool.Database, out io.Writer, paths []string) error {
	store := loader.New(t.DB.Conn(), schema.Live.Database())
	record := journal.New(t.DB.Conn(), schema.OpsDatabase, schema.Live)
	importer := runner.NewImporter(store, record, filepath.Join(t.Data, "import"))
	rollup, err := t.Rollup(schema.Live)
	if err != nil {
		return err
	}
	all, err := t.Catalogue()
	if err != nil {
		return err
	}
	stored := 0
	failed := eachFile(ctx, out, paths, func(path string) error {
		n, err := ImportFile(ctx, out, importer, all.Opener(importSource, time.Now), path)
		stored += n
		return err
	})
	result, err := rollup.Update(ctx)
	if err != nil {
		return errors.Join(failed, err)
	}
	if result.Stations > 0 && stored > 0 {
		_, _ = fmt.Fprintf(out, "computed the hours of %d stations from %s to %s in %s\n", result.Stations,
			result.From.Format(time.RFC3339), result.To.Format(time.RFC3339), result.Elapsed.Round(time.Millisecond))
	}
	return failed
}

// ImportFile imports one file and returns the number of readings that it has stored.
func ImportFile(ctx context.Context, out io.Writer, importer *runner.Importer, open file.Opener, path string) (int, error) {
	key, err := runner.FileKey(path)
	if err != nil {
		return 0, err
	}
	var (
		current *file.File
		bar     = noBar
	)
	summary, err := importer.Import(ctx, runner.Job{
		Key: key, Source: importSource,
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
