package source

import (
	"cmp"
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vayu/ingest/source/described"
	"vayu/ingest/source/described/kit"
)

func newDraft() *cobra.Command {
	var from, folder string
	var headers []string
	cmd := &cobra.Command{
		Use:   "new NAME --from URL|FILE",
		Short: "Draft the description of a network from one reply of its API, and list the guesses",
		Long: `Draft the description of a network from one reply of its API, or from a file with such a reply. The command guesses records, stations,
parameters, units, times, averaging interval and pages. It writes DATA/sources/NAME.yaml with the evidence of each guess, and a test case.
Variables of the environment replace ${NAME} in the address and in headers. The files contain no key.`,
		Example: `  vayu source new schools --from 'https://api.example.com/v2/rows?since=2026-11-26T08:00:00Z&page=1' --header 'X-Key: ${SCHOOLS_KEY}'
  vayu source new schools --from reply.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, cfg, err := catalogue(cmd)
			if err != nil {
				return err
			}
			drafted, err := kit.Draft(cmd.Context(), args[0], from, headers, cmp.Or(folder, cfg.SourceFolder()))
			if err != nil {
				return err
			}
			return drafted.Show(cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "address of the API with the usual parameters, or file with a reply")
	cmd.Flags().StringArrayVar(&headers, "header", nil, "header of the request, as 'X-Key: ${SCHOOLS_KEY}'; may be repeated")
	cmd.Flags().StringVar(&folder, "dir", "", "folder of the description; default DATA/sources")
	_ = cmd.MarkFlagRequired("from") // fails only if the flag does not exist
	return cmd
}

func newRecord() *cobra.Command {
	var window windowFlags
	var name string
	return onDescription(&cobra.Command{
		Use:   "record NAME|FILE",
		Short: "Fetch a described source once and write the fetch as a test case",
		Long: `Fetch a described source once and write its replies and readings as a case for vayu source check. Secrets of the description, tokens, serial
numbers and e-mail addresses are replaced. If the fetch fails, its error is the expected result of the case. Nothing is stored.`,
		Example: `  vayu source record schools
  vayu source record schools --case calibration --from 2026-11-20T00:00:00Z --to 2026-11-20T06:00:00Z`,
	}, func(flags *pflag.FlagSet) {
		window.bind(flags)
		flags.StringVar(&name, "case", "", "name of the case; default the time")
	}, func(cmd *cobra.Command, f described.File, cases string) error {
		now := time.Now()
		w, err := window.parse(now)
		if err != nil {
			return err
		}
		recorded, err := kit.Record(cmd.Context(), f, w, filepath.Join(cases, cmp.Or(name, now.UTC().Format("2006-01-02-150405"))))
		recorded.Text(cmd.OutOrStdout())
		return err
	})
}

func newCheck() *cobra.Command {
	var asJSON, accept bool
	return onDescription(&cobra.Command{
		Use:   "check NAME|FILE",
		Short: "Check a described source: its cases, and its behaviour when the API misbehaves",
		Long: `Check a described source without its API. First the cases of the source are run. Then the source fetches from a fake of the API, which is
built from the replies of a case: a refused key, an empty, a repeated and a shifted page, too many requests, a cut body, a cursor in the
future, a late row, the same window twice, and renamed fields. The command fails if a check fails.`,
		Example: `  vayu source check schools
  vayu source check sources/schools.yaml --json`,
	}, func(flags *pflag.FlagSet) {
		flags.BoolVar(&accept, "accept", false, "first make the results of all cases the expected ones")
		flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	}, func(cmd *cobra.Command, f described.File, cases string) error {
		if accept {
			if err := kit.Accept(cmd.Context(), cmd.OutOrStdout(), f, cases); err != nil {
				return err
			}
		}
		report, err := kit.CheckAt(cmd.Context(), f, cases)
		if err != nil {
			return err
		}
		return errors.Join(report.Show(cmd.OutOrStdout(), asJSON), report.Err())
	})
}

// onDescription adds the flag --cases and the flags of `bind` to a command. The command then calls `run` with a source
// description and the folder of its test cases.
func onDescription(
	cmd *cobra.Command, bind func(*pflag.FlagSet), run func(cmd *cobra.Command, f described.File, cases string) error,
) *cobra.Command {
	folder := cmd.Flags().String("cases", "", "folder of the cases; default a folder beside the description, with its name")
	bind(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		all, cfg, err := catalogue(cmd)
		if err != nil {
			return err
		}
		f, cases, err := all.Description(args[0], cfg.SourceFolder())
		if err != nil {
			return err
		}
		return run(cmd, f, cmp.Or(*folder, cases))
	}
	return cmd
}
