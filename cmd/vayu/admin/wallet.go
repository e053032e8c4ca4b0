package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/dispatch/outbox"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

// NewWallet returns the command `vayu wallet`.
func NewWallet() *cobra.Command {
	return tool.Group("wallet", "Settle payments into wallets, and show balances", newWalletShow(), newWalletPending(), newWalletSettle(), newWalletCredit())
}

// withWallets calls `work` with a wallet service when the state store is ready.
func withWallets(cmd *cobra.Command, work func(ctx context.Context, st *tool.State, wallets *wallet.Service) error) error {
	return tool.WithKey(cmd, func(ctx context.Context, st *tool.State) error {
		events := outbox.New(outbox.Config{DB: st.DB, Log: st.Log})
		return work(ctx, st, wallet.New(wallet.Config{DB: st.DB, Events: events, Log: st.Log}))
	})
}

func newWalletShow() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "show --account NAME",
		Short: "Show the balances of an account",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return tool.WithState(cmd, func(ctx context.Context, st *tool.State) error {
				view := st.DB.View(ctx)
				holder, err := tool.AccountByName(view, name)
				if err != nil {
					return err
				}
				out := tool.NewTable(cmd.OutOrStdout(), "MODE\tAVAILABLE\tHELD")
				for _, world := range schema.Worlds {
					b, err := wallet.BalanceOf(view, schema.Owner{Account: holder.ID, World: world})
					if err != nil {
						return err
					}
					_, _ = fmt.Fprintf(out, "%s\t%s\t%s\n", world, b.Available.Rupees(), b.Held.Rupees())
				}
				return out.Flush()
			})
		},
	}
	cmd.Flags().StringVar(&name, "account", tool.DefaultAccount, "name of the account")
	return cmd
}

// maxPending is the largest number of payments that `wallet pending` prints.
const maxPending = 1000

func newWalletPending() *cobra.Command {
	return &cobra.Command{
		Use:   "pending",
		Short: "List the pending payments",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return tool.WithState(cmd, func(ctx context.Context, st *tool.State) error {
				view := st.DB.View(ctx)
				names, err := tool.AccountNames(view)
				if err != nil {
					return err
				}
				all, err := wallet.Pending(view, maxPending)
				if err != nil {
					return err
				}
				out := tool.NewTable(cmd.OutOrStdout(), "ID\tACCOUNT\tMODE\tAMOUNT\tMETHOD\tREF\tSINCE")
				for _, p := range all {
					_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.ID, names[p.Owner.Account], p.Owner.World, p.Amount.Rupees(), p.Method,
						p.RefID, p.CreatedAt.Format(time.RFC3339))
				}
				return out.Flush()
			})
		},
	}
}

func newWalletSettle() *cobra.Command {
	var succeeded, failed bool
	var note string
	cmd := &cobra.Command{
		Use:   "settle PAYMENT --succeeded --note UTR|--failed",
		Short: "Settle a pending payment",
		Long: `Settle a pending payment: as received, which credits the wallet, or as failed. That is final,
and causes the event payment.succeeded or payment.failed.

Money received needs a --note, such as the bank's reference (UTR). A note can be used once, so
that the same money is not credited again with "vayu wallet credit".`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if succeeded == failed {
				return errors.New("set --succeeded or --failed")
			}
			return withWallets(cmd, func(ctx context.Context, _ *tool.State, wallets *wallet.Service) error {
				p, err := wallets.Settle(ctx, args[0], succeeded, note, tool.CommandActor)
				if err == nil {
					printPayment(cmd, p)
				}
				return err
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&succeeded, "succeeded", false, "the money was received")
	f.BoolVar(&failed, "failed", false, "the money was not received")
	f.StringVar(&note, "note", "", "reference of the payment, such as the UTR of the bank; one reference credits one payment; needed with --succeeded")
	return cmd
}

func newWalletCredit() *cobra.Command {
	var name, amount, note, mode string
	cmd := &cobra.Command{
		Use:   "credit --account NAME --amount RUPEES --note UTR",
		Short: "Credit a wallet with received money",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			paise, err := wallet.ParseAmount(amount)
			if err != nil {
				return err
			}
			world, err := tool.ParseWorld(mode)
			if err != nil {
				return err
			}
			return withWallets(cmd, func(ctx context.Context, st *tool.State, wallets *wallet.Service) error {
				holder, err := tool.AccountByName(st.DB.View(ctx), name)
				if err != nil {
					return err
				}
				p, err := wallets.Credit(ctx, schema.Owner{Account: holder.ID, World: world}, paise, note, tool.CommandActor)
				if err == nil {
					printPayment(cmd, p)
				}
				return err
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&name, "account", tool.DefaultAccount, "name of the account")
	f.StringVar(&amount, "amount", "", "rupees, such as 5000 or 199.50")
	f.StringVar(&note, "note", "", "reference of the payment, such as the UTR of the bank; one reference credits one payment")
	f.StringVar(&mode, "mode", "live", "world of the wallet: live, or sandbox (test does too)")
	for _, needed := range []string{"amount", "note"} {
		_ = cmd.MarkFlagRequired(needed) // fails only if a flag does not exist
	}
	return cmd
}

func printPayment(cmd *cobra.Command, p *wallet.Payment) {
	_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s  %s, %s; available now: %s\n", p.ID, p.Amount.Rupees(), p.State, p.Balance.Rupees())
}
