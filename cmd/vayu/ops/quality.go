package ops

import (
	"context"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/ingest"
	"vayu/pipeline/airquality/quality"
	"vayu/schema"
)

// NewQuality returns the command `vayu quality`.
func NewQuality() *cobra.Command {
	return tool.Group("quality", "Compare low-cost sensors with reference stations", newColocate())
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
			first, last, err := ingest.ParseRange(from, to)
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
				return quality.WriteFits(ctx, t.DB.Conn(), schema.Live.Database(), cmd.OutOrStdout())
			})
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "first Indian day")
	cmd.Flags().StringVar(&to, "to", "", "last Indian day")
	_ = cmd.MarkFlagRequired("from")
	_ = cmd.MarkFlagRequired("to")
	return cmd
}
