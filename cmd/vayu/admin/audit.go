package admin

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/internal/access/audit"
)

// NewAudit returns the command `vayu audit`.
func NewAudit() *cobra.Command {
	return tool.Group("audit", "Check the audit log", newAuditVerify())
}

func newAuditVerify() *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that no row of the audit log was changed, removed or added by hand",
		Long: `Check that no row of the audit log was changed, removed or added by hand. Each account has a
hash chain for each world. The hash of the last row covers the whole chain. A copy of that hash in
another place proves the log against everybody who can write to the store. The last row also has a
MAC with the store's encryption key, so that rows cannot be removed unnoticed without that key.
Every minute the service appends the last hashes to audit-heads.ndjson in the data directory
(setting access.audit-heads). --since compares the log with a copy of that file.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return tool.WithKey(cmd, func(ctx context.Context, st *tool.State) error {
				names, err := tool.AccountNames(st.DB.View(ctx))
				if err != nil {
					return err
				}
				valid := true
				err = audit.Verify(ctx, st.DB, "", func(c audit.Report) {
					if c.Reason != "" {
						valid = false
						_, _ = fmt.Fprintf(cmd.OutOrStdout(), "FAIL  %s %s: row %d: %s\n", cmp.Or(names[c.Account], c.Account), c.World, c.Wrong, c.Reason)
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
				if since != "" {
					copied, err := checkHeads(ctx, cmd.OutOrStdout(), st, since, names)
					if err != nil {
						return err
					}
					valid = valid && copied
				}
				if !valid {
					return tool.ErrReported
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "file with heads that the service copied; each must be in its chain")
	return cmd
}

// checkHeads checks the heads in a file. A head is the hash of the last row of an audit chain at the time of the copy.
// checkHeads prints each invalid head: one that it cannot parse, or that is not in the audit log. The result `valid` is
// true if all heads are valid.
func checkHeads(ctx context.Context, out io.Writer, st *tool.State, path string, names map[string]string) (valid bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("--since: %w", err)
	}
	defer func() { _ = file.Close() }()
	valid = true
	for head, err := range audit.Heads(file) {
		if err != nil {
			valid = false
			_, _ = fmt.Fprintf(out, "FAIL  %s: %v\n", path, err)
			continue
		}
		reason, err := head.Check(ctx, st.DB)
		if err != nil {
			return false, err
		}
		if reason != "" {
			valid = false
			_, _ = fmt.Fprintf(out, "FAIL  %s %s: row %d: %s\n", cmp.Or(names[head.Account], head.Account), head.World, head.Seq, reason)
		}
	}
	return valid, nil
}
