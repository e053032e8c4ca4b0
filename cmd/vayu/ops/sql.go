package ops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/internal/columnstore"
	"vayu/query/result"
)

// clickHouseError reduces an error of the ClickHouse server to its code and message. It wraps any other error.
func clickHouseError(err error) error {
	if e, ok := errors.AsType[*clickhouse.Exception](err); ok {
		return fmt.Errorf("ClickHouse, code %d: %s", e.Code, e.Message)
	}
	if err != nil {
		return fmt.Errorf("querying ClickHouse: %w", err)
	}
	return nil
}

// NewSQL returns the command `vayu sql`.
func NewSQL() *cobra.Command {
	var format string
	names := strings.Join(slices.Sorted(maps.Keys(result.Formats)), ", ")
	cmd := &cobra.Command{
		Use:   `sql "SELECT …"`,
		Short: "Query ClickHouse in SQL, beside a running service or without one",
		Long: `Query ClickHouse in SQL, beside a running service or without one. Live air is in the database vayu, simulated air in
vayu_sandbox. Each row is read once: of equal keys the latest version.`,
		Example: `  vayu sql "SELECT city, aqi FROM vayu_sandbox.city_hour ORDER BY at DESC LIMIT 1 BY city"
  vayu sql --format arrow "SELECT * FROM vayu.reading" > readings.arrow`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, known := result.Formats[format]
			if !known {
				return fmt.Errorf("format %q is none of %s", format, names)
			}
			return tool.WithDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
				rows, err := t.DB.Conn().Query(columnstore.Final(ctx), strings.TrimSuffix(strings.TrimSpace(args[0]), ";"))
				if err != nil {
					return clickHouseError(err)
				}
				defer func() { _ = rows.Close() }()
				_, err = write(os.Stdout, rows)
				return clickHouseError(err)
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "table", "form of the answer: "+names)
	return cmd
}
