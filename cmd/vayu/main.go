// Command vayu is the whole service and its tools in one binary: it serves the
// API, owns the embedded ClickHouse engine, imports files and answers SQL.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newRoot().ExecuteContext(ctx)
	stop()
	if err != nil && !errors.Is(err, errReported) {
		fmt.Fprintln(os.Stderr, "vayu:", err)
	}
	if err != nil {
		os.Exit(1)
	}
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
	bind(root.PersistentFlags(), "data", "clickhouse", "cluster", "log.level", "log.format",
		"engine.library", "engine.port", "engine.max-memory", "engine.max-time", "engine.connections")
	root.AddCommand(newServe(), newImport(), newBackfill(), newSource(), newSQL(), newMigrate(), newDoctor(), newConfig(), newEngine())
	return root
}
