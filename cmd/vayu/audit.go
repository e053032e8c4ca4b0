package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"vayu/internal/account"
)

func newAudit() *cobra.Command {
	cmd := &cobra.Command{Use: "audit", Short: "Prove the audit log"}
	cmd.AddCommand(newAuditVerify())
	return cmd
}

func newAuditVerify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Check that no row of the audit log was changed, removed or added by hand",
		Long: `Check that no row of the audit log was changed, removed or added by hand. Each account has a
chain for each world; the hash of its last row stands for all of it, so a copy of that hash
kept elsewhere proves the log against those who may write to the store.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withState(cmd, func(ctx context.Context, st *stateTool) error {
				names := map[string]string{}
				all, err := account.ListAccounts(st.db.View(ctx))
				if err != nil {
					return err
				}
				for _, a := range all {
					names[a.ID] = a.Name
				}
				whole := true
				err = account.VerifyAudit(ctx, st.db, "", func(c account.AuditReport) {
					if c.Reason != "" {
						whole = false
						_, _ = fmt.Fprintf(cmd.OutOrStdout(), "FAIL  %s %s: row %d: %s\n", names[c.Account], c.World, c.Wrong, c.Reason)
						return
					}
					_, _ = fmt.Fprintf(cmd.OutOrStdout(), "ok    %s %s: %d rows, the last has the hash %s\n", names[c.Account], c.World, c.Rows, c.Hash)
				})
				if err == nil && !whole {
					return errReported
				}
				return err
			})
		},
	}
}
