// Package source has the command `vayu source`, for the sources of readings.
package source

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/ingest"
	"vayu/ingest/preview"
	"vayu/ingest/runner"
	"vayu/schema"
)

// New returns the command `vayu source`.
func New() *cobra.Command {
	cmd := &cobra.Command{Use: "source", Short: "List and test the sources of readings"}
	settings.Bind(cmd.PersistentFlags(), "source-dir")
	cmd.AddCommand(newList(), newTest(), newPreview())
	return cmd
}

func newList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the sources",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, _, err := settings.Load(cmd)
			if err != nil {
				return err
			}
			all, err := loaded.Value.Catalogue()
			if err != nil {
				return err
			}
			out := tool.NewTable(cmd.OutOrStdout(), "NAME\tWORLD\tACTIVE\tSCHEDULE\tWHAT IT IS")
			for _, name := range all.Names() {
				entry := all.Entry(name)
				active := entry.World == schema.Sandbox || slices.Contains(loaded.Value.Sources, name)
				_, _ = fmt.Fprintf(out, "%s\t%s\t%v\t%s\t%s\n", name, entry.World, active, entry.Feed.Schedule, entry.About)
			}
			return out.Flush()
		},
	}
}

// open returns a source of the catalogue.
func open(cmd *cobra.Command, name string) (ingest.Source, error) {
	loaded, _, err := settings.Load(cmd)
	if err != nil {
		return nil, err
	}
	all, err := loaded.Value.Catalogue()
	if err != nil {
		return nil, err
	}
	return all.New(name, time.Now)
}

// testWindow is the length of the time range that `source test` fetches. The range ends now.
const testWindow = 24 * time.Hour

func newTest() *cobra.Command {
	var most int
	cmd := &cobra.Command{
		Use:   "test NAME",
		Short: "Fetch a source once and show its readings and rejections; nothing is stored",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := open(cmd, args[0])
			if err != nil {
				return err
			}
			now := time.Now()
			sample, err := runner.FetchSample(cmd.Context(), src, ingest.Window{From: now.Add(-testWindow), To: now}, most)
			if err != nil && sample.Count == 0 {
				return err
			}
			return errors.Join(preview.Sample(cmd.OutOrStdout(), sample), err)
		},
	}
	cmd.Flags().IntVar(&most, "rows", 50, "show at most so many readings")
	return cmd
}
