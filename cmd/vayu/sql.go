package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"vayu/query/result"
)

func newSQL() *cobra.Command {
	var format string
	names := strings.Join(slices.Sorted(maps.Keys(result.Formats)), ", ")
	cmd := &cobra.Command{
		Use:   `sql "SELECT …"`,
		Short: "Ask ClickHouse in SQL, beside a running service or without one",
		Example: `  vayu sql "SELECT city, aqi FROM vayu_sandbox.city_hour FINAL ORDER BY at DESC LIMIT 1 BY city"
  vayu sql --format arrow "SELECT * FROM vayu.reading" > readings.arrow`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, known := result.Formats[format]
			if !known {
				return fmt.Errorf("format %q is none of %s", format, names)
			}
			return withDatabase(cmd, func(ctx context.Context, t *tool) error {
				rows, err := t.db.Conn().Query(ctx, strings.TrimSuffix(strings.TrimSpace(args[0]), ";"))
				if err != nil {
					return fmt.Errorf("asking ClickHouse: %w", err)
				}
				defer func() { _ = rows.Close() }()
				if _, err := write(os.Stdout, rows); err != nil {
					return fmt.Errorf("writing the answer: %w", err)
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "table", "form of the answer: "+names)
	return cmd
}
