package main

import "github.com/spf13/cobra"

// newConfig prints the effective configuration.
func newConfig() *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration and where each value comes from",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, _, err := load(cmd)
			if err != nil {
				return err
			}
			return loaded.Print(cmd.OutOrStdout())
		},
	}
}
