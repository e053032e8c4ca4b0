package ops

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/ingest/imports"
	"vayu/schema"
)

// NewImport returns the command `vayu import`.
func NewImport() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "import FILE…",
		Short: "Import saved files of readings; idempotent",
		Long: `Import saved files of readings, also gzipped:
  CPCB's feed (XML); data.gov.in: downloads (CSV) and saved replies (JSON);
  CAAQM exports of one or several stations (CSV, Excel, JSON) and tables of many;
  CPCB's yearly files (Raw_data_1Hr_…csv, 15Min, 8Hrs, 1Day) and raw readings of one station (dates, PM25, …);
  OpenAQ: versions 1 and 2 (CSV), the archive (CSV), saved pages of version 3 (JSON);
  daily means of cities (city_day).
The format of a file is recognised from its content, also by the descriptions in DATA/sources. The station of a yearly file
is in its name, or in a table stations.csv (file,station) beside it. Replies of OpenAQ's /v3/locations beside a file
(location*.json) contain the kind, licence and units of its stations.

A cell without a value (NA, None, -999, empty) withdraws the stored value of its time. An import that stores nothing
exits with status 1 and the most frequent reason. Running the same command again continues an interrupted import. The
command works beside a running service, whose replies have the new readings within seconds, and without one.`,
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
				return imports.Each(cmd.Context(), cmd.OutOrStdout(), paths, func(path string) error {
					return imports.Try(cmd.Context(), cmd.OutOrStdout(), all.Opener(imports.Source, time.Now), path)
				})
			}
			return tool.Options{Create: true}.Run(cmd, func(ctx context.Context, t *tool.Database) error {
				rollup, err := t.Rollup(schema.Live)
				if err != nil {
					return err
				}
				all, err := t.Catalogue()
				if err != nil {
					return err
				}
				stored, failed := imports.All(ctx, cmd.OutOrStdout(), t.DB.Conn(), all, t.Data, paths)
				result, err := rollup.Update(ctx)
				if err == nil && result.Stations > 0 && stored > 0 {
					_, _ = fmt.Fprintln(cmd.OutOrStdout(), result)
				}
				return errors.Join(failed, err)
			})
		},
	}
	settings.Bind(cmd.Flags(), "source-dir")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "store nothing; show the first readings and the rejected values of each file")
	return cmd
}
