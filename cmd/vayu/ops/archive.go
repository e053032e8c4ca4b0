package ops

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/query/archive"
	"vayu/schema"
)

// placeOf returns the archive at an address: a folder, or s3://bucket/prefix.
func placeOf(address string) (archive.Place, error) {
	if strings.Contains(address, "://") {
		return archive.NewBucket(address, os.Getenv)
	}
	return archive.NewFolder(address), nil
}

// NewArchive returns the command `vayu archive` with its subcommand.
func NewArchive() *cobra.Command {
	var to, mode string
	cmd := &cobra.Command{
		Use:   "archive --to DIR|s3://BUCKET/PREFIX",
		Short: "Write the air as monthly Parquet files, beside a running service or without one",
		Long: `Write the air as monthly Parquet files, in the layout of Hive, with a manifest. A later run writes the months that have changed.
A run that fails leaves the last archive. Stations that accounts have not published are not in it. The keys, the region and the
endpoint of a bucket are in the variables that AWS's tools read: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL.`,
		Example: `  vayu archive --to /srv/air
  AWS_REGION=ap-south-1 vayu archive --to s3://my-bucket/air`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			world, place, err := worldAndPlace(mode, to)
			if err != nil {
				return err
			}
			return tool.WithDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
				began := time.Now()
				r, err := archive.Write(ctx, t.DB.Conn(), place, archive.Options{
					World: world, Database: world.Database(), Version: settings.Version(), Now: began,
					Progress: func(f archive.File, changed bool) {
						if changed {
							_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d rows, %.1f MB\n", f.Path, f.Rows, float64(f.Bytes)/1e6)
						}
					},
				})
				if err != nil {
					return err
				}
				var rows uint64
				for i := range r.Manifest.Tables {
					rows += r.Manifest.Tables[i].Rows()
				}
				tool.PrintLinef(cmd, "archive", "%s has %d rows in %d files", to, rows, r.Written+r.Kept)
				tool.PrintLinef(cmd, "changes", "%d files written (%.1f MB), %d removed, in %s", r.Written, float64(r.Bytes)/1e6, r.Removed, time.Since(began).Round(10*time.Millisecond))
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "folder or s3://BUCKET/PREFIX of the archive")
	cmd.Flags().StringVar(&mode, "mode", schema.Live.String(), "world of the air: live, or sandbox (test does too)")
	_ = cmd.MarkFlagRequired("to") // the flag exists
	cmd.AddCommand(newArchiveRestore())
	return cmd
}

func newArchiveRestore() *cobra.Command {
	var from, mode string
	cmd := &cobra.Command{
		Use:   "restore --from DIR|s3://BUCKET/PREFIX",
		Short: "Fill an empty installation with the air of an archive",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			world, place, err := worldAndPlace(mode, from)
			if err != nil {
				return err
			}
			return tool.WithNewDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
				began, rows := time.Now(), uint64(0)
				m, err := archive.Restore(ctx, t.DB.Conn(), place, world, world.Database(), func(f archive.File) {
					rows += f.Rows
					_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d rows\n", f.Path, f.Rows)
				})
				if err != nil {
					return err
				}
				tool.PrintLinef(cmd, "restored", "%d rows of the archive of %s in %s", rows, m.Made.Format(time.RFC3339), time.Since(began).Round(10*time.Millisecond))
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "folder or s3://BUCKET/PREFIX of the archive")
	cmd.Flags().StringVar(&mode, "mode", schema.Live.String(), "world of the air: live, or sandbox (test does too)")
	_ = cmd.MarkFlagRequired("from") // the flag exists
	return cmd
}

func worldAndPlace(mode, address string) (schema.World, archive.Place, error) {
	world, err := tool.ParseWorld(mode)
	if err != nil {
		return world, nil, err
	}
	place, err := placeOf(address)
	return world, place, err
}
