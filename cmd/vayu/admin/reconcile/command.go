// Package reconcile has the command that compares recharges with the files of providers.
package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/dispatch/outbox"
	"vayu/internal/sqlstore"
	"vayu/pipeline/csvfile"
	"vayu/pipeline/recharge"
	"vayu/pipeline/recharge/reconcile"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// NewReconcile returns the command `vayu reconcile`.
func NewReconcile() *cobra.Command {
	var r reconciliation
	cmd := &cobra.Command{
		Use:   "reconcile [FILE.csv --provider NAME]",
		Short: "List recharges that need attention, or compare them with an operator's file",
		Long: `Without a file: list the recharges that need attention. These have been pending for
more than 24 hours, or have an alarm, because their provider contradicted a final outcome. An
alarm lasts until "vayu reconcile resolve" records the result.

With a provider's daily file (CSV with a header): compare each line with the stored
recharge, and print the remedy for each difference. Only --apply changes anything. It settles the
differences that need no decision by a person, and is idempotent. With --date, or --from and --to
(Indian dates), recharges of these days that the file lacks are listed too.

The exit status is 1 if entries remain that need attention, and otherwise 0. The command works
beside a running service.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return r.list(cmd)
			}
			return r.compare(cmd, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.mode, "mode", "", "live, or sandbox (test does too; default: both for the list, live for a file)")
	f.BoolVar(&r.json, "json", false, "print JSON, an object a line")
	f.StringVar(&r.provider, "provider", "", "provider of the file: the name of its connection")
	f.StringVar(&r.date, "date", "", "day of the file, YYYY-MM-DD in India")
	f.StringVar(&r.from, "from", "", "first day of the file")
	f.StringVar(&r.to, "to", "", "last day of the file")
	f.StringToStringVar(&r.columns, "columns", nil, "names of columns that are not found, such as reference=client_ref,amount=value (there are reference, status, amount, id)")
	f.StringToStringVar(&r.statuses, "statuses", nil, "statuses of the file that are not recognised, such as 00=success,17=failed (there are success, failed, pending, refunded)")
	f.BoolVar(&r.apply, "apply", false, "settle the differences that need no decision by a person")
	cmd.AddCommand(newReconcileSettle(), newReconcileResolve())
	return cmd
}

type reconciliation struct {
	mode, provider, date, from, to string
	columns, statuses              map[string]string
	apply, json                    bool
}

// worlds returns the world (live or sandbox) that --mode selects. Without --mode, it returns both worlds.
func (r *reconciliation) worlds() ([]schema.World, error) {
	if r.mode == "" {
		return schema.Worlds[:], nil
	}
	world, err := tool.ParseWorld(r.mode)
	return []schema.World{world}, err
}

// list runs the command without a file: it prints the recharges that need attention.
func (r *reconciliation) list(cmd *cobra.Command) error {
	for _, name := range []string{"provider", "date", "from", "to", "columns", "statuses", "apply"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is for a file: vayu reconcile FILE.csv --provider NAME", name)
		}
	}
	worlds, err := r.worlds()
	if err != nil {
		return err
	}
	return tool.WithState(cmd, func(ctx context.Context, st *tool.State) error {
		names, err := tool.AccountNames(st.DB.View(ctx))
		if err != nil {
			return err
		}
		now := time.Now()
		show := newEntries(cmd.OutOrStdout(), names, now, r.json)
		if err := reconcile.List(ctx, st.DB, worlds, now, show.entry); err != nil {
			return err
		}
		if err := show.end(); err != nil {
			return err
		}
		if show.n > 0 {
			return tool.ErrReported
		}
		return nil
	})
}

// compare runs the command with a file: it compares the file with the recharges, and prints the differences.
func (r *reconciliation) compare(cmd *cobra.Command, path string) error {
	c, err := r.comparison()
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return tool.WithState(cmd, func(ctx context.Context, st *tool.State) error {
		if err := checkProvider(st.DB.View(ctx), &c); err != nil {
			return err
		}
		names, err := tool.AccountNames(st.DB.View(ctx))
		if err != nil {
			return err
		}
		if c.DB = st.DB; r.apply {
			if _, err := st.OpenCipher(ctx); err != nil {
				return err
			}
			if c.Settler, err = settler(st); err != nil {
				return err
			}
		}
		show := &differences{out: cmd.OutOrStdout(), names: names, of: &c, json: r.json, kept: map[reconcile.Kind][]reconcile.Difference{}}
		sum, err := c.Run(ctx, file, show.difference)
		if _, ok := errors.AsType[*csvfile.HeaderError](err); ok {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := errors.Join(err, show.end(path, sum, err)); err != nil {
			return err
		}
		if sum.Left > 0 {
			return tool.ErrReported
		}
		return nil
	})
}

// settler returns a recharge service that settles recharges, even while `vayu serve` runs. It has no connections to
// providers, because settling sends them no requests.
func settler(st *tool.State) (reconcile.Settler, error) {
	events := outbox.New(outbox.Config{DB: st.DB, Log: st.Log})
	return recharge.New(recharge.Config{Options: transaction.Options{DB: st.DB, Events: events, Log: st.Log}})
}

// comparison validates the flags for the comparison with a file, and converts them to a Comparison.
func (r *reconciliation) comparison() (reconcile.Comparison, error) {
	c := reconcile.Comparison{Provider: r.provider, Layout: reconcile.Layout{Columns: r.columns, Statuses: map[string]reconcile.Status{}}}
	if r.provider == "" {
		return c, errors.New("--provider: name the provider of the file")
	}
	worlds, err := r.worlds()
	if err != nil {
		return c, err
	}
	c.World = worlds[0]
	for _, what := range slices.Sorted(maps.Keys(r.columns)) {
		if !slices.Contains(reconcile.ColumnNames, what) {
			return c, fmt.Errorf("--columns: there is no %q; there are %s", what, strings.Join(reconcile.ColumnNames, ", "))
		}
	}
	for name, meaning := range r.statuses {
		s := reconcile.Status(meaning)
		if !slices.Contains(reconcile.Statuses, s) {
			return c, fmt.Errorf("--statuses: %s=%s: a status is success, failed, pending or refunded", name, meaning)
		}
		c.Layout.Statuses[name] = s
	}
	c.From, c.To, err = r.span()
	return c, err
}

// span returns the time range that --date, or --from and --to, select. Without them, both times are zero.
func (r *reconciliation) span() (from, to time.Time, err error) {
	if r.date == "" && r.from == "" && r.to == "" {
		return from, to, nil
	}
	if r.date != "" && (r.from != "" || r.to != "") {
		return from, to, errors.New("set --date, or --from and --to")
	}
	if r.date == "" && (r.from == "" || r.to == "") {
		return from, to, errors.New("set both --from and --to")
	}
	first, err := schema.ParseDay(cmp.Or(r.from, r.date))
	if err != nil {
		return from, to, fmt.Errorf("%q is not a date like 2026-11-20", cmp.Or(r.from, r.date))
	}
	last, err := schema.ParseDay(cmp.Or(r.to, r.date))
	if err != nil {
		return from, to, fmt.Errorf("%q is not a date like 2026-11-20", cmp.Or(r.to, r.date))
	}
	if last < first {
		return from, to, errors.New("--from is after --to")
	}
	return first.Start(), last.End(), nil
}

// checkProvider returns an error if no recharge in the world of c was submitted to the provider of the file. Without
// this check, a mistyped name would cause a difference for every line of the file.
func checkProvider(q sqlstore.Querier, c *reconcile.Comparison) error {
	names, err := reconcile.Providers(q, c.World)
	if err != nil || slices.Contains(names, c.Provider) {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("no recharge of the %s world has a provider yet", c.World)
	}
	return fmt.Errorf("--provider: no recharge of the %s world was submitted to %q; its providers are %s", c.World, c.Provider, strings.Join(names, ", "))
}
