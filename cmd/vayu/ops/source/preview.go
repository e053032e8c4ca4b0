package source

import (
	"cmp"
	"errors"
	"math"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/ingest"
	"vayu/ingest/preview"
	"vayu/ingest/runner"
)

// keptExchanges is how many requests `source preview` shows.
const keptExchanges = 20

func newPreview() *cobra.Command {
	var from, to string
	var most int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "preview NAME",
		Short: "Fetch a source once and show its requests, replies, readings and rejected values; nothing is stored",
		Long: `Fetch a source once and show its requests and replies, the readings, and the rejected values with their records. Nothing is stored.
Secrets of the description are replaced by ***. --json prints everything as one JSON object.`,
		Example: `  vayu source preview schools
  vayu source preview openaq --from 2026-11-20T00:00:00Z --to 2026-11-20T06:00:00Z --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			now := time.Now()
			first, last, err := tool.ParseRange(cmp.Or(from, now.Add(-testWindow).Format(time.RFC3339)), cmp.Or(to, now.Format(time.RFC3339)))
			if err != nil {
				return err
			}
			src, err := open(cmd, args[0])
			if err != nil {
				return err
			}
			recorder := ingest.Recorder{Kept: keptExchanges}
			if asJSON {
				most = math.MaxInt
			}
			sample, err := runner.FetchSample(ingest.WithRecorder(cmd.Context(), &recorder), src, ingest.Window{From: first, To: last}, most)
			if asJSON {
				return errors.Join(preview.New(sample, &recorder, err).JSON(cmd.OutOrStdout()), err)
			}
			preview.Exchanges(cmd.OutOrStdout(), &recorder)
			return errors.Join(preview.Sample(cmd.OutOrStdout(), sample), err)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&from, "from", "", "begin of the time range: YYYY-MM-DD in Indian time, or RFC 3339; default 24 hours ago")
	flags.StringVar(&to, "to", "", "end of the time range; default now")
	flags.IntVar(&most, "rows", 50, "show at most so many readings")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object with all readings")
	return cmd
}
