package ops

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/schema"
)

// NewMigrate returns the command `vayu migrate`.
func NewMigrate() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Migrate the tables of ClickHouse, as an instance with the role ingest does at its start",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return tool.Options{Create: true, Migrate: true}.Run(cmd, func(ctx context.Context, t *tool.Database) error {
				for _, w := range schema.Worlds {
					var version uint32
					query := fmt.Sprintf("SELECT max(version) FROM %s.migration", w.Database())
					if err := t.DB.Conn().QueryRow(ctx, query).Scan(&version); err != nil {
						return fmt.Errorf("reading the version of %s: %w", w.Database(), err)
					}
					_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s is at version %d\n", w.Database(), version)
				}
				return nil
			})
		},
	}
}
