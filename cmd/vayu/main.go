// Command vayu is the service and its tools in one binary. It serves the API, runs the embedded ClickHouse engine,
// imports files and runs SQL queries.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/admin"
	"vayu/cmd/vayu/admin/reconcile"
	"vayu/cmd/vayu/ops"
	"vayu/cmd/vayu/ops/backup"
	"vayu/cmd/vayu/ops/events"
	"vayu/cmd/vayu/ops/source"
	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/schema"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals()...)
	err := newRoot().ExecuteContext(ctx)
	stop()
	if err != nil && !errors.Is(err, tool.ErrReported) {
		fmt.Fprintln(os.Stderr, "vayu:", userMessage(err))
	}
	os.Exit(exitStatus(err))
}

// exitStatus returns the exit status of the program: 0 if err is nil, else 1. It returns 78 (EX_CONFIG of sysexits.h)
// if serve cannot load its settings. The systemd unit does not restart an instance that exits with 78.
func exitStatus(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.As(err, new(settingsError)):
		return 78
	default:
		return 1
	}
}

// stopSignals returns the signals that stop the program gracefully. It omits SIGHUP if nohup has started the program.
func stopSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// userMessage returns the text of an error for a user of the command line. For a problem (an error body of the API)
// with a status below 500, the text names flags in place of JSON fields, and omits the error code.
func userMessage(err error) string {
	var refused *schema.Problem
	if !errors.As(err, &refused) || refused.Code.Status() >= http.StatusInternalServerError {
		return err.Error()
	}
	if len(refused.Details) == 0 {
		return flagPrefix(refused.Field) + refused.Message
	}
	lines := make([]string, len(refused.Details))
	for i, d := range refused.Details {
		lines[i] = flagPrefix(d.Field) + d.Message
	}
	return strings.Join(lines, "\n      ")
}

// flagNames maps a field of an API request to the start of an error message, which names the flag for that field.
var flagNames = map[string]string{
	"allow_list": "--allow: ", "amount": "--amount: ", "expires_at": "--expires: ", "grace_seconds": "--grace: ", "name": "--name: ", "note": "--note: ", "plan": "--plan: ", "scopes": "--scopes: ",
}

// flagPrefix returns the entry of flagNames for the part of `field` before the first dot, or "" if there is none.
func flagPrefix(field string) string {
	name, _, _ := strings.Cut(field, ".")
	return flagNames[name]
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "vayu",
		Short:         "India's air quality, hour by hour: one service and its tools",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       settings.Version(),
	}
	root.PersistentFlags().String("config", "", "configuration file (default vayu.yaml, if it exists)")
	settings.Bind(root.PersistentFlags(), "data", "clickhouse", "cluster", "state", "log.level", "log.format", "engine.library", "engine.port", "engine.max-memory", "engine.max-time", "engine.connections")
	root.AddCommand(newServe(), admin.NewAccount(), admin.NewKeys(), admin.NewAudit(), events.NewEvents(), admin.NewWallet(), admin.NewLedger(), ops.NewImport(), ops.NewImportIFSC(), ops.NewBackfill(), ops.NewReadings(), ops.NewQuality(), ops.NewForecast(), source.New(), ops.NewStation(), ops.NewListen(), ops.NewSQL(), ops.NewExport(), ops.NewArchive(), ops.NewMigrate(), ops.NewClickHouse(), backup.NewBackup(), backup.NewRestore(), reconcile.NewReconcile(), ops.NewDoctor(), backup.NewEncryption(), ops.NewConfig(), ops.NewProbe(), ops.NewEngine())
	root.InitDefaultCompletionCmd()
	groups := map[*cobra.Command]bool{} // commands that only have subcommands
	for _, cmd := range root.Commands() {
		if groups[cmd] = cmd.HasSubCommands() && !cmd.Runnable(); groups[cmd] {
			cmd.Args, cmd.RunE = rejectUnknown, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			cmd.DisableFlagsInUseLine = true
		}
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if groups[cmd] || !cmd.HasParent() { // the flags belong to a subcommand that does not exist
			err = cmp.Or(rejectUnknown(cmd, cmd.Flags().Args()), err)
		}
		return err
	})
	return root
}

// rejectUnknown returns an error for an unknown subcommand. Package cobra itself does so for the root command only.
func rejectUnknown(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2 // the default of cobra, which cobra sets for the root command only
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += "\n\nDid you mean this?\n\t" + strings.Join(near, "\n\t")
	}
	return errors.New(text)
}
