// Command vayu is the whole service and its tools in one binary: it serves the
// API, owns the embedded ClickHouse engine, imports files and answers SQL.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"vayu/schema"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newRoot().ExecuteContext(ctx)
	stop()
	if err != nil && !errors.Is(err, errReported) {
		fmt.Fprintln(os.Stderr, "vayu:", plainly(err))
	}
	if err != nil {
		os.Exit(1)
	}
}

// plainly is the text of an error for a person: a refusal that the API would
// answer says its fields and not its code.
func plainly(err error) string {
	var refused *schema.Problem
	if !errors.As(err, &refused) || refused.Code.Status() >= http.StatusInternalServerError {
		return err.Error()
	}
	if len(refused.Details) == 0 {
		return flagOf(refused.Field) + refused.Message
	}
	lines := make([]string, len(refused.Details))
	for i, d := range refused.Details {
		lines[i] = flagOf(d.Field) + d.Message
	}
	return strings.Join(lines, "\n      ")
}

// flagNames says which flag stands for a field of the API.
var flagNames = map[string]string{
	"allow_list": "--allow: ", "expires_at": "--expires: ", "grace_seconds": "--grace: ", "name": "--name: ", "plan": "--plan: ", "scopes": "--scopes: ",
}

// flagOf is what is said before the message about a field.
func flagOf(field string) string {
	name, _, _ := strings.Cut(field, ".")
	return flagNames[name]
}

// errReported ends a command with status 1 after it has said what is wrong.
var errReported = errors.New("already reported")

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "vayu",
		Short:         "India's air quality, hour by hour: one service and its tools",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
	}
	root.PersistentFlags().String("config", "", "configuration file (default vayu.yaml, when there is one)")
	bind(root.PersistentFlags(), "data", "clickhouse", "cluster", "state", "log.level", "log.format",
		"engine.library", "engine.port", "engine.max-memory", "engine.max-time", "engine.connections")
	root.AddCommand(newServe(), newAccount(), newKeys(), newAudit(), newEvents(), newImport(), newBackfill(), newSource(), newListen(), newSQL(), newMigrate(), newBackup(), newRestore(), newDoctor(), newConfig(), newEngine())
	return root
}
