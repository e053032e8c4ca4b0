package source

import (
	"cmp"

	"github.com/spf13/cobra"

	"vayu/ingest/source/described/kit"
)

func newDraft() *cobra.Command {
	var from, folder string
	var headers []string
	cmd := &cobra.Command{
		Use:   "new NAME --from URL|FILE",
		Short: "Draft the description of a network from one reply of its API, and say what was guessed",
		Long: `Draft the description of a network from one reply of its API, or from a file with such a reply. The command guesses records, stations,
parameters, units, times, averaging interval and pages. It writes DATA/sources/NAME.yaml with the evidence of each guess, and a test case.
Variables of the environment replace ${NAME} in the address and in headers. A key is in no file.`,
		Example: `  vayu source new schools --from 'https://api.example.com/v2/rows?since=2026-11-26T08:00:00Z&page=1' --header 'X-Key: ${SCHOOLS_KEY}'
  vayu source new schools --from reply.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, sources, err := catalogue(cmd)
			if err != nil {
				return err
			}
			drafted, err := kit.Draft(cmd.Context(), args[0], from, headers, cmp.Or(folder, sources))
			if err != nil {
				return err
			}
			return drafted.Show(cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "address of the API with the usual parameters, or file with a reply")
	cmd.Flags().StringArrayVar(&headers, "header", nil, "header of the request, as 'X-Key: ${SCHOOLS_KEY}'; may be repeated")
	cmd.Flags().StringVar(&folder, "dir", "", "folder of the description; default DATA/sources")
	_ = cmd.MarkFlagRequired("from") // the flag exists
	return cmd
}
