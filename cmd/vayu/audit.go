package main

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"vayu/internal/account"
)

func newAudit() *cobra.Command {
	cmd := &cobra.Command{Use: "audit", Short: "Prove the audit log"}
	cmd.AddCommand(newAuditVerify())
	return cmd
}

func newAuditVerify() *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that no row of the audit log was changed, removed or added by hand",
		Long: `Check that no row of the audit log was changed, removed or added by hand. Each account has a
chain for each world; the hash of its last row stands for all of it, so a copy of that hash
kept elsewhere proves the log against those who may write to the store. The row has a MAC too,
made with the store's encryption key: without the key nobody can cut off rows. The service appends
such hashes to audit-heads.ndjson in the data directory (setting access.audit-heads) every
minute; --since compares the log with a copy of that file.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			heads, err := copiedHeads(since)
			if err != nil {
				return err
			}
			return withKey(cmd, func(ctx context.Context, st *stateTool) error {
				names := map[string]string{}
				all, err := account.ListAccounts(st.db.View(ctx))
				if err != nil {
					return err
				}
				for _, a := range all {
					names[a.ID] = a.Name
				}
				whole := true
				fail := func(c account.AuditReport) {
					whole = false
					_, _ = fmt.Fprintf(cmd.OutOrStdout(), "FAIL  %s %s: row %d: %s\n", cmp.Or(names[c.Account], c.Account), c.World, c.Wrong, c.Reason)
				}
				err = account.VerifyAudit(ctx, st.db, "", func(c account.AuditReport) {
					if c.Reason != "" {
						fail(c)
						return
					}
					_, _ = fmt.Fprintf(cmd.OutOrStdout(), "ok    %s %s: %d rows, the last has the hash %s\n", names[c.Account], c.World, c.Rows, c.Hash)
					if c.Unkeyed > 0 {
						_, _ = fmt.Fprintf(cmd.OutOrStdout(), "      the last %d have no MAC: an earlier version wrote them, or a process without the key\n", c.Unkeyed)
					}
				})
				if err != nil {
					return err
				}
				if err := account.CheckHeads(ctx, st.db, heads, fail); err != nil {
					return err
				}
				if !whole {
					return errReported
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "file with heads that the service copied; each must be in its chain")
	return cmd
}

// copiedHeads reads the file of --since; none for no file.
func copiedHeads(path string) ([]account.Head, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--since: %w", err)
	}
	defer func() { _ = file.Close() }()
	heads, err := account.ReadHeads(file)
	if err != nil {
		return nil, fmt.Errorf("--since: %s: %w", path, err)
	}
	return heads, nil
}
