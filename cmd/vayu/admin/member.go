package admin

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/internal/access/member"
	"vayu/internal/sqlstore"
	wire "vayu/schema/member"
)

func newMember() *cobra.Command {
	return tool.Group("member", "Add, list and remove the people of an account", newMemberAdd(), newMemberList(), newMemberRemove())
}

func newMemberAdd() *cobra.Command {
	var role string
	cmd := &cobra.Command{
		Use:   "add ACCOUNT EMAIL",
		Short: "Add a person, who gets a mail with a link from the running service",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return tool.WithState(cmd, func(ctx context.Context, st *tool.State) error {
				cipher, err := st.OpenCipher(ctx)
				if err != nil {
					return err
				}
				var made wire.Member
				err = st.DB.Update(ctx, func(tx *sqlstore.Tx) error {
					if err := cipher.Confirm(tx); err != nil {
						return err
					}
					holder, err := tool.AccountByName(tx, args[0])
					if err != nil {
						return err
					}
					made, err = member.Add(tx, cipher, holder.ID, args[1], role, member.Operator(tool.CommandActor), time.Now())
					return err
				})
				if err == nil {
					_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s  %s, %s\n", made.ID, made.Email, made.Role)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&role, "role", wire.Owner, "owner, developer, finance or viewer")
	return cmd
}

func newMemberList() *cobra.Command {
	return &cobra.Command{
		Use:   "list ACCOUNT",
		Short: "List the people of an account",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return tool.WithState(cmd, func(ctx context.Context, st *tool.State) error {
				holder, err := tool.AccountByName(st.DB.View(ctx), args[0])
				if err != nil {
					return err
				}
				all, err := member.List(st.DB.View(ctx), holder.ID)
				if err != nil {
					return err
				}
				out := tool.NewTable(cmd.OutOrStdout(), "ID\tEMAIL\tROLE\tADDED\tSIGNED IN")
				for _, m := range all {
					signedIn := "never"
					if m.LastSignInAt != nil {
						signedIn = *m.LastSignInAt
					}
					_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", m.ID, m.Email, m.Role, m.CreatedAt, signedIn)
				}
				return out.Flush()
			})
		},
	}
}

func newMemberRemove() *cobra.Command {
	return &cobra.Command{
		Use:   "remove ACCOUNT EMAIL",
		Short: "Remove a person, and end the person's sessions",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return tool.WithKey(cmd, func(ctx context.Context, st *tool.State) error {
				return st.DB.Update(ctx, func(tx *sqlstore.Tx) error {
					holder, err := tool.AccountByName(tx, args[0])
					if err != nil {
						return err
					}
					_, err = member.Remove(tx, holder.ID, args[1], member.Operator(tool.CommandActor), time.Now())
					return err
				})
			})
		},
	}
}
