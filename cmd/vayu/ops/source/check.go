package source

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"vayu/ingest/source/described/kit"
)

func newCheck() *cobra.Command {
	var folder string
	var asJSON, accept bool
	cmd := &cobra.Command{
		Use:   "check NAME|FILE",
		Short: "Check a described source: its cases, and its behaviour when the API misbehaves",
		Long: `Check a described source without its API. First the cases of the source are run. Then the source fetches from a fake of the API, which is
built from the replies of a case: a refused key, an empty, a repeated and a shifted page, too many requests, a cut body, a cursor in the
future, a late row, the same window twice, and renamed fields. The command fails if a check fails.`,
		Example: `  vayu source check schools
  vayu source check sources/schools.yaml --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, cases, err := described(cmd, args[0])
			if err != nil {
				return err
			}
			if cases = cmp.Or(folder, cases); accept {
				if err := kit.Accept(cmd.Context(), cmd.OutOrStdout(), f, cases); err != nil {
					return err
				}
			}
			report, err := kit.CheckAt(cmd.Context(), f, cases)
			if err != nil {
				return err
			}
			return errors.Join(report.Show(cmd.OutOrStdout(), asJSON), report.Err())
		},
	}
	cmd.Flags().StringVar(&folder, "cases", "", "folder of the cases; default a folder beside the description, with its name")
	cmd.Flags().BoolVar(&accept, "accept", false, "first make the results of all cases the expected ones")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
