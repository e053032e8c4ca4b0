package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"vayu/schema"
)

func newMigrate() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Migrate the tables of ClickHouse (an instance with the role ingest does it too)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return toolRun{create: true, migrate: true}.run(cmd, func(ctx context.Context, t *tool) error {
				for _, w := range schema.Worlds {
					var version uint32
					query := fmt.Sprintf("SELECT max(version) FROM %s.migration", w.Database())
					if err := t.db.Conn().QueryRow(ctx, query).Scan(&version); err != nil {
						return fmt.Errorf("reading the version of %s: %w", w.Database(), err)
					}
					_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s is at version %d\n", w.Database(), version)
				}
				return nil
			})
		},
	}
}
