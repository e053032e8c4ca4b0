// Package admin has the commands about accounts, keys, wallets, the ledger and the audit log.
package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/internal/access/account"
	"vayu/internal/access/audit"
	"vayu/internal/access/signup"
	"vayu/internal/sqlstore"
)

// NewAccount returns the command `vayu account`.
func NewAccount() *cobra.Command {
	return tool.Group("account", "Create, list, change and erase accounts", newAccountCreate(), newAccountList(), newAccountSet(), newAccountTolerance(), newAccountInvite(), newMember(), newAccountErase())
}

func newAccountCreate() *cobra.Command {
	var plan string
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create an account",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return tool.WithNewState(cmd, tool.WithEncryption(func(ctx context.Context, st *tool.State) error {
				var made account.Record
				err := st.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
					made, err = tool.CreateAccount(tx, st.Access.Plans, args[0], plan)
					return err
				})
				if err == nil {
					_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s  %s, plan %s\n", made.ID, made.Name, made.Plan)
				}
				return err
			}))
		},
	}
	cmd.Flags().StringVar(&plan, "plan", tool.DefaultPlan, "one of the configured plans")
	return cmd
}

func newAccountList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the accounts",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return tool.WithState(cmd, func(ctx context.Context, st *tool.State) error {
				all, err := account.List(st.DB.View(ctx))
				if err != nil {
					return err
				}
				out := tool.NewTable(cmd.OutOrStdout(), "ID\tNAME\tPLAN\tCREATED\tADDRESSES\tTOLERANCE")
				for _, a := range all {
					_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\n",
						a.ID, a.Name, a.Plan, a.CreatedAt.UTC().Format(time.RFC3339), addresses(a.AllowList), toleranceText(a.NameTolerance))
				}
				return out.Flush()
			})
		},
	}
}

func addresses(allowed []string) string {
	if len(allowed) == 0 {
		return "every"
	}
	return strings.Join(allowed, " ")
}

func newAccountSet() *cobra.Command {
	var plan string
	var allow []string
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "Change the plan of an account or the addresses that may use it",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			newPlan, newAllow := cmd.Flags().Changed("plan"), cmd.Flags().Changed("allow")
			if !newPlan && !newAllow {
				return errors.New("set --plan, --allow or both")
			}
			return tool.WithKey(cmd, func(ctx context.Context, st *tool.State) error {
				return st.DB.Update(ctx, func(tx *sqlstore.Tx) error {
					holder, err := tool.AccountByName(tx, args[0])
					if err == nil && newPlan {
						var entry audit.Entry
						_, entry, err = account.SetPlan(tx, st.Access.Plans, holder.ID, plan)
						err = tool.AppendAudit(tx, entry, err)
					}
					if err == nil && newAllow {
						var entry audit.Entry
						_, entry, err = account.SetAllowList(tx, holder.ID, allow)
						err = tool.AppendAudit(tx, entry, err)
					}
					return err
				})
			})
		},
	}
	cmd.Flags().StringVar(&plan, "plan", "", "one of the configured plans")
	cmd.Flags().StringSliceVar(&allow, "allow", nil, `addresses and networks that may use the account; "" for every one`)
	return cmd
}

func newAccountInvite() *cobra.Command {
	var email string
	var expires time.Duration
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Print an invite code, with which one person can sign up",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return tool.WithState(cmd, func(ctx context.Context, st *tool.State) error {
				var code string
				err := st.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
					code, err = signup.CreateInvite(tx, email, time.Now().Add(expires), time.Now())
					return err
				})
				if err == nil {
					_, _ = fmt.Fprintln(cmd.OutOrStdout(), code)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&email, "email", "", "the only e-mail address that can use the code (default: every one)")
	cmd.Flags().DurationVar(&expires, "expires", 7*24*time.Hour, "how long the code can be used")
	return cmd
}
