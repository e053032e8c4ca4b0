package tool

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// ErrReported makes the program exit with status 1 and no message, because the failure is already printed.
var ErrReported = errors.New("already reported")

// PrintLinef prints one line of a command's report: the topic in a column of fixed width, and then the text.
func PrintLinef(cmd *cobra.Command, topic, format string, args ...any) {
	_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%-12s %s\n", topic, fmt.Sprintf(format, args...))
}

// NewTable returns a writer that aligns the columns of a table. Tabs separate the columns. NewTable writes
// the header; the caller must flush the writer.
func NewTable(out io.Writer, header string) *tabwriter.Writer {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, header) // Flush returns an error of this write
	return table
}

// Group returns a command that only has subcommands.
func Group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short}
	cmd.AddCommand(commands...)
	return cmd
}
