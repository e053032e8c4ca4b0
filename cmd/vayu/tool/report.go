package tool

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// ErrReported ends a command with status 1 without a message, because the command has printed the failure.
var ErrReported = errors.New("already reported")

// PrintLinef prints a line of a command's report, in which topics are aligned.
func PrintLinef(cmd *cobra.Command, topic, format string, args ...any) {
	_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%-12s %s\n", topic, fmt.Sprintf(format, args...))
}

// NewTable returns a writer that aligns columns, which are separated by tabs. It writes the header, and the
// caller flushes it.
func NewTable(out io.Writer, header string) *tabwriter.Writer {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, header) // Flush returns the error
	return table
}
