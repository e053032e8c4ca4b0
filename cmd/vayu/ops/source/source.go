// Package source has the command `vayu source`, for the sources of readings.
package source

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/ingest/progress"
	"vayu/ingest/source"
	"vayu/schema"
)

// New returns the command `vayu source`.
func New() *cobra.Command {
	cmd := &cobra.Command{Use: "source", Short: "List, test and repair the sources of readings"}
	settings.Bind(cmd.PersistentFlags(), "source-dir")
	cmd.AddCommand(newList(), newWatermark(), newBackfill(), newReplay())
	for _, one := range []*cobra.Command{newTest(), newPreview(), newDraft(), newRecord(), newCheck()} {
		one.Args = cobra.ExactArgs(1)
		cmd.AddCommand(one)
	}
	return cmd
}

func newList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the sources",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, cfg, err := catalogue(cmd)
			if err != nil {
				return err
			}
			marks := watermarks(cmd, cfg)
			out := tool.NewTable(cmd.OutOrStdout(), "NAME\tWORLD\tACTIVE\tSCHEDULE\tFETCHED UP TO (UTC)\tWHAT IT IS")
			for _, name := range all.Names() {
				entry := all.Entry(name)
				active := entry.World == schema.Sandbox || slices.Contains(cfg.Sources, name)
				_, _ = fmt.Fprintf(out, "%s\t%s\t%v\t%s\t%s\t%s\n", name, entry.World, active, entry.Feed.Schedule, cmp.Or(marks[name], "-"), entry.About)
			}
			return out.Flush()
		},
	}
}

// watermarks returns the watermark of each source as text, by the name of the source. It returns none if there is no
// state store.
func watermarks(cmd *cobra.Command, cfg settings.Config) (all map[string]string) {
	if _, err := os.Stat(filepath.Join(cfg.Data, "state.db")); err != nil && cfg.State == "" {
		return nil
	}
	err := tool.WithState(cmd, func(ctx context.Context, st *tool.State) error {
		local, err := progress.Local(st.DB, st.ClickHouse == "", st.Data)
		if err == nil {
			all, err = progress.Texts(ctx, st.DB, local)
		}
		return err
	})
	if err != nil {
		_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "the watermarks are unknown: %v\n", err)
	}
	return all
}

// catalogue returns the catalogue of all sources, and the settings.
func catalogue(cmd *cobra.Command) (*source.Catalogue, settings.Config, error) {
	loaded, _, err := settings.Load(cmd)
	if err != nil {
		return nil, loaded.Value, err
	}
	all, err := loaded.Value.Catalogue()
	return all, loaded.Value, err
}
