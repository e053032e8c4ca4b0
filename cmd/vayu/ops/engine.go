package ops

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/internal/columnstore/embedded"
	"vayu/internal/memory"
)

// runEngine runs the embedded ClickHouse engine in this process. The parent process communicates with it over
// the standard streams.
func runEngine(cmd *cobra.Command, _ []string) error {
	go func() { _ = memory.Run(cmd.Context(), slog.New(slog.NewJSONHandler(os.Stderr, nil)), "libchdb.so") }()
	if embedded.Child(cmd.Context(), os.Stdin, os.Stdout, os.Stderr) != nil {
		return tool.ErrReported // Child has reported the error to the parent process
	}
	return nil
}

// NewEngine returns the command of the child process that runs the embedded engine.
func NewEngine() *cobra.Command {
	return &cobra.Command{
		Use:    "engine",
		Short:  "Run the embedded ClickHouse engine (started by the other commands)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   runEngine,
	}
}
