package ops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/query/archive"
	"vayu/schema"
)

// archiveRun holds the flags of `vayu archive` and its subcommands.
type archiveRun struct {
	address, mode string
	prune, again  bool
}

func (r *archiveRun) flags(cmd *cobra.Command, address string) {
	cmd.Flags().StringVar(&r.address, address, "", "folder or s3://BUCKET/PREFIX of the archive")
	cmd.Flags().StringVar(&r.mode, "mode", schema.Live.String(), "world of the air: live, or sandbox (test does too)")
	_ = cmd.MarkFlagRequired(address) // fails only if the flag does not exist
}

// NewArchive returns the command `vayu archive` with its subcommands.
func NewArchive() *cobra.Command {
	var r archiveRun
	cmd := &cobra.Command{
		Use:   "archive --to DIR|s3://BUCKET/PREFIX",
		Short: "Archive the tables of the air as monthly Parquet files, beside a running service or without one",
		Long: `Archive the tables of the air as monthly Parquet files, in the layout of Hive, with a manifest. A later run writes the months that have changed.
Months that ClickHouse no longer has, or only in part, stay. A run that fails leaves the last archive. Stations that accounts have not published are not in it.
The keys, the region and the endpoint of a bucket are in the variables that AWS's tools read: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
AWS_REGION, AWS_ENDPOINT_URL.`,
		Example: `  vayu archive --to /srv/air
  AWS_REGION=ap-south-1 vayu archive --to s3://my-bucket/air`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.write(cmd) },
	}
	r.flags(cmd, "to")
	cmd.Flags().BoolVar(&r.prune, "prune", false, "remove months and rows that ClickHouse no longer has, except the last month of a table")
	cmd.AddCommand(newArchiveRestore(), newArchiveVerify())
	return cmd
}

func (r *archiveRun) write(cmd *cobra.Command) error {
	world, place, err := r.open()
	if err != nil {
		return err
	}
	return tool.WithDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
		began := time.Now()
		done, err := archive.Write(ctx, t.DB.Conn(), place, archive.Options{
			World: world, Database: world.Database(), Version: settings.Version(), Now: began, Prune: r.prune,
			Progress: func(f archive.File, changed bool) {
				if changed {
					_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d rows, %.1f MB\n", f.Path, f.Rows, float64(f.Bytes)/1e6)
				}
			},
			Fewer: func(f archive.File, rows uint64) {
				_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s stays with %d rows, because ClickHouse has only %d of its month, and no withdrawal explains it; "+
					"--prune takes over the rows of ClickHouse\n", f.Path, f.Rows, rows)
			},
		})
		if err != nil {
			return err
		}
		tool.PrintLinef(cmd, "archive", "%s has %d rows in %d files", r.address, done.Manifest.Rows(), done.Written+done.Kept+done.Retained)
		tool.PrintLinef(cmd, "changes", "%d files written (%.1f MB), %d removed, in %s", done.Written, float64(done.Bytes)/1e6, done.Removed, time.Since(began).Round(10*time.Millisecond))
		if done.Retained > 0 {
			tool.PrintLinef(cmd, "kept", "%d files with rows that ClickHouse no longer has", done.Retained)
		}
		return nil
	})
}

func newArchiveRestore() *cobra.Command {
	var r archiveRun
	cmd := &cobra.Command{
		Use:   "restore --from DIR|s3://BUCKET/PREFIX",
		Short: "Restore an archive into an empty installation, while the service is stopped",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return r.restore(cmd) },
	}
	r.flags(cmd, "from")
	cmd.Flags().BoolVar(&r.again, "again", false, "empty the tables first, if a restore into them was killed")
	return cmd
}

func (r *archiveRun) restore(cmd *cobra.Command) error {
	world, place, err := r.open()
	if err != nil {
		return err
	}
	return tool.Options{Create: true, Partial: true}.Run(cmd, func(ctx context.Context, t *tool.Database) error {
		if t.DB.Embedded() && !t.DB.OwnsEngine() {
			return errors.New("the service is running, and writes to the tables: stop it first")
		}
		began, rows := time.Now(), uint64(0)
		m, err := archive.Restore(ctx, t.DB.Conn(), place, archive.RestoreOptions{
			World: world, Tables: tool.TablesOf(t.Cluster, world), Now: began, Again: r.again,
			Progress: func(f archive.File, skipped bool) {
				if skipped {
					_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s: skipped, older than the retention\n", f.Path)
					return
				}
				rows += f.Rows
				_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d rows\n", f.Path, f.Rows)
			},
		})
		if err != nil {
			return err
		}
		tool.PrintLinef(cmd, "restored", "%d rows of the archive of %s in %s", rows, m.Made.Format(time.RFC3339), time.Since(began).Round(10*time.Millisecond))
		return nil
	})
}

func newArchiveVerify() *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "verify --from DIR|s3://BUCKET/PREFIX",
		Short: "Read every file of an archive, and compare it with the manifest",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			place, err := archive.PlaceAt(from, os.Getenv)
			if err != nil {
				return err
			}
			report, err := archive.Verify(cmd.Context(), place, nil)
			if err != nil {
				return err
			}
			for _, fault := range report.Faults {
				_, _ = fmt.Fprintln(cmd.ErrOrStderr(), fault)
			}
			for _, path := range report.Unlisted {
				_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s: not in the manifest, the next run removes it\n", path)
			}
			if n := len(report.Faults); n > 0 {
				return fmt.Errorf("%d of %d files are missing or damaged: vayu archive writes those again whose rows are in ClickHouse", n, report.Files)
			}
			tool.PrintLinef(cmd, "verified", "%d rows in %d files (%.1f MB), of %s", report.Manifest.Rows(), report.Files, float64(report.Bytes)/1e6, report.Manifest.Made.Format(time.RFC3339))
			return nil
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "folder or s3://BUCKET/PREFIX of the archive")
	_ = cmd.MarkFlagRequired("from") // fails only if the flag does not exist
	return cmd
}

func (r *archiveRun) open() (schema.World, archive.Place, error) {
	world, err := tool.ParseWorld(r.mode)
	if err != nil {
		return world, nil, err
	}
	place, err := archive.PlaceAt(r.address, os.Getenv)
	return world, place, err
}
