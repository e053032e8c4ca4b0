package ops

import (
	"github.com/spf13/cobra"

	"vayu/cmd/vayu/settings"
)

// NewConfig returns the command `vayu config`, which prints the effective configuration.
func NewConfig() *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration and where each value comes from",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, _, err := settings.Load(cmd)
			if err != nil {
				return err
			}
			return loaded.Print(cmd.OutOrStdout())
		},
	}
}
