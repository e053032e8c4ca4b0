package source

import (
	"cmp"
	"errors"
	"math"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vayu/ingest"
	"vayu/ingest/preview"
	"vayu/ingest/runner"
)

// keptExchanges is the largest number of requests that `source preview` shows.
const keptExchanges = 20

func newTest() *cobra.Command {
	return fetchCommand(0, &cobra.Command{
		Use:   "test NAME",
		Short: "Fetch a source once and show its readings and rejections; nothing is stored",
	})
}

func newPreview() *cobra.Command {
	return fetchCommand(keptExchanges, &cobra.Command{
		Use:   "preview NAME",
		Short: "Fetch a source once and show its requests, replies, readings and rejected values; nothing is stored",
		Long: `Fetch a source once and show its requests and replies, the readings, and the rejected values with their records. Nothing is stored.
Secrets of the description are replaced by ***. --json prints everything as one JSON object.`,
		Example: `  vayu source preview schools
  vayu source preview openaq --from 2026-11-20T00:00:00Z --to 2026-11-20T06:00:00Z --json`,
	})
}

// fetchCommand adds flags and a function to `cmd`. The function fetches a source once, and shows at most `kept`
// requests.
func fetchCommand(kept int, cmd *cobra.Command) *cobra.Command {
	var window windowFlags
	var most int
	var asJSON bool
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w, err := window.parse(time.Now())
		if err != nil {
			return err
		}
		all, _, err := catalogue(cmd)
		if err != nil {
			return err
		}
		src, err := all.New(args[0], time.Now)
		if err != nil {
			return err
		}
		recorder := ingest.Recorder{Kept: kept, Paths: new(ingest.Paths)}
		if asJSON {
			most = math.MaxInt
		}
		sample, err := runner.FetchSample(ingest.WithRecorder(cmd.Context(), &recorder), src, w, most)
		if asJSON {
			return errors.Join(preview.New(sample, &recorder, err).JSON(cmd.OutOrStdout()), err)
		}
		preview.Exchanges(cmd.OutOrStdout(), &recorder)
		err = errors.Join(preview.Sample(cmd.OutOrStdout(), sample), err)
		preview.Absent(cmd.OutOrStdout(), recorder.Paths.Absent())
		return err
	}
	window.bind(cmd.Flags())
	cmd.Flags().IntVar(&most, "rows", 50, "show at most so many readings")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object with all readings")
	return cmd
}

// windowFlags are the flags of the window to fetch.
type windowFlags struct{ from, to string }

func (f *windowFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.from, "from", "", "begin of the time range: YYYY-MM-DD in Indian time, or RFC 3339; default 24 hours ago")
	flags.StringVar(&f.to, "to", "", "end of the time range; default now")
}

func (f *windowFlags) parse(now time.Time) (ingest.Window, error) {
	day := now.Add(-24 * time.Hour)
	first, last, err := ingest.ParseRange(cmp.Or(f.from, day.Format(time.RFC3339)), cmp.Or(f.to, now.Format(time.RFC3339)))
	return ingest.Window{From: first, To: last}, err
}
