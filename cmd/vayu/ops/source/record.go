package source

import (
	"cmp"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"vayu/ingest/source/described/kit"
)

func newRecord() *cobra.Command {
	var window windowFlags
	var name, folder string
	cmd := &cobra.Command{
		Use:   "record NAME|FILE",
		Short: "Fetch a described source once and write the fetch as a test case",
		Long: `Fetch a described source once and write its replies and readings as a case for vayu source check. Secrets of the description, tokens, serial
numbers and e-mail addresses are replaced. If the fetch fails, its error is the expected result of the case. Nothing is stored.`,
		Example: `  vayu source record schools
  vayu source record schools --case calibration --from 2026-11-20T00:00:00Z --to 2026-11-20T06:00:00Z`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := window.parse(time.Now())
			if err != nil {
				return err
			}
			f, cases, err := described(cmd, args[0])
			if err != nil {
				return err
			}
			name = cmp.Or(name, time.Now().UTC().Format("2006-01-02-150405"))
			recorded, err := kit.Record(cmd.Context(), f, w, filepath.Join(cmp.Or(folder, cases), name))
			if recorded != nil {
				recorded.Text(cmd.OutOrStdout())
			}
			return err
		},
	}
	window.bind(cmd.Flags())
	cmd.Flags().StringVar(&name, "case", "", "name of the case; default the time")
	cmd.Flags().StringVar(&folder, "cases", "", "folder of the cases; default a folder beside the description, with its name")
	return cmd
}
