package ops

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/pipeline/airquality/quality"
	"vayu/schema"
)

// NewQuality returns the command `vayu quality`.
func NewQuality() *cobra.Command {
	cmd := &cobra.Command{Use: "quality", Short: "Compare low-cost sensors with reference stations"}
	cmd.AddCommand(newColocate())
	return cmd
}

func newColocate() *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "colocate --from YYYY-MM-DD --to YYYY-MM-DD",
		Short: "Fit the PM2.5 of each sensor beside a reference station to that station",
		Long: `Fit the PM2.5 of each low-cost sensor beside a reference station to that station, over the hours of some Indian days:
reference = slope · sensor + humidity · relative humidity + intercept. A sensor is beside the nearest reference station within
1 km, or beside the one that the setting quality.colocated names. The fits are stored in the table colocation.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			first, last, err := tool.ParseRange(from, to)
			if err != nil {
				return err
			}
			return tool.WithDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
				checker, err := quality.New(t.DB.Conn(), schema.Live.Database(), t.Quality)
				if err != nil {
					return err
				}
				if err := checker.Colocate(ctx, first, last); err != nil {
					return err
				}
				return showFits(ctx, t, cmd)
			})
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "first Indian day")
	cmd.Flags().StringVar(&to, "to", "", "last Indian day")
	_ = cmd.MarkFlagRequired("from")
	_ = cmd.MarkFlagRequired("to")
	return cmd
}

// showFits prints the latest calibration fit of each sensor to its nearby reference station.
func showFits(ctx context.Context, t *tool.Database, cmd *cobra.Command) error {
	rows, err := t.DB.Conn().Query(ctx, `SELECT sensor, reference, hours, slope, humidity, intercept, error, error_raw, r2 FROM `+schema.Live.Database()+`.colocation FINAL
		ORDER BY sensor, fitted_at DESC LIMIT 1 BY sensor`)
	if err != nil {
		return fmt.Errorf("reading the fits: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := tool.NewTable(cmd.OutOrStdout(), "SENSOR\tREFERENCE\tHOURS\tSLOPE\tHUMIDITY\tINTERCEPT\tERROR\tRAW ERROR\tR2")
	for rows.Next() {
		var sensor, reference string
		var hours uint32
		var slope, humidity, intercept, left, raw, r2 float64
		if err := rows.Scan(&sensor, &reference, &hours, &slope, &humidity, &intercept, &left, &raw, &r2); err != nil {
			return fmt.Errorf("reading the fits: %w", err)
		}
		_, _ = fmt.Fprintf(out, "%s\t%s\t%d\t%.3f\t%.3f\t%.2f\t%.2f\t%.2f\t%.3f\n", sensor, reference, hours, slope, humidity, intercept, left, raw, r2)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading the fits: %w", err)
	}
	return out.Flush()
}
