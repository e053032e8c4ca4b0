package ops

import (
	"context"
	"fmt"
	"os/user"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/ingest/loader"
	"vayu/schema"
)

// NewStation returns the command `vayu station`.
func NewStation() *cobra.Command {
	return tool.Group("station", "Merge stations with several names", newStationMerge(), newStationAlias())
}

func newStationMerge() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "merge ALIAS INTO --reason TEXT",
		Short: "Make one station an alias of another, with its history",
		Long: `Make one station an alias of another. ALIAS and INTO are ids, or names if only one station has the name. The readings of ALIAS
are copied to INTO and stored there from now on. Where both have a reading of one time, the one of INTO stays. ALIAS no longer counts in its
city. A running service follows within 10 seconds. Running it again completes a merge that was interrupted.`,
		Example: `  vayu station merge cpcb-r-k-puram-dpcc cpcb-r-k-puram-delhi-dpcc --reason "same cabin"`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return tool.WithDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
				conn, database := t.DB.Conn(), schema.Live.Database()
				from, err := loader.FindStation(ctx, conn, database, args[0])
				if err != nil {
					return err
				}
				into, err := loader.FindStation(ctx, conn, database, args[1])
				if err != nil {
					return err
				}
				if err := loader.New(conn, database).Merge(ctx, from, into, reason, operator()); err != nil {
					return err
				}
				rollup, err := t.Rollup(schema.Live)
				if err != nil {
					return err
				}
				if _, err := rollup.Update(ctx); err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is an alias of %s now\n", from, into)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why the two are one station; it is stored")
	_ = cmd.MarkFlagRequired("reason")
	return cmd
}

// operator returns the name of the operating system's user. The name is stored with each merge of stations.
func operator() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "operator"
}

func newStationAlias() *cobra.Command {
	return tool.Group("alias", "Other ids of stations", &cobra.Command{
		Use:   "list",
		Short: "List the ids whose readings are stored under another, and why",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return tool.WithDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
				return loader.WriteAliases(ctx, t.DB.Conn(), schema.Live.Database(), cmd.OutOrStdout())
			})
		},
	})
}
