package ops

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/pipeline/verify/branch"
)

// NewImportIFSC returns the command `vayu import-ifsc`.
func NewImportIFSC() *cobra.Command {
	return &cobra.Command{
		Use:   "import-ifsc FILE",
		Short: "Load a directory of bank branches; idempotent",
		Long: `Load a directory of bank branches. A verification takes the branch of an IFSC from it if the bank's reply has none. The
file is the list of the Reserve Bank of India saved as CSV, or IFSC.csv of a release of razorpay/ifsc, also gzipped. It
requires the columns IFSC and BRANCH. The columns BANK, ADDRESS, CITY, DISTRICT and STATE are optional.

The file is loaded in one transaction. Invalid rows are counted and skipped. Branches that are not in the file are
unchanged. The command works beside a running service, which uses the new directory at once.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			text, err := decompress(file)
			if err != nil {
				return fmt.Errorf("reading %q: %w", args[0], err)
			}
			return tool.WithNewState(cmd, func(ctx context.Context, st *tool.State) error {
				s, err := branch.Import(ctx, st.DB, text)
				if err != nil {
					return fmt.Errorf("importing %q: %w", args[0], err)
				}
				showBranches(cmd.OutOrStdout(), args[0], s)
				if s.Imported == 0 {
					return errors.New("no branch was stored")
				}
				return nil
			})
		},
	}
}

// decompress returns a reader of the file's content. It decompresses a gzipped file.
func decompress(file io.Reader) (io.Reader, error) {
	in := bufio.NewReader(file)
	if magic, err := in.Peek(2); err != nil || magic[0] != 0x1f || magic[1] != 0x8b { // RFC 1952, 2.3.1
		return in, nil //nolint:nilerr // a file that is too short fails in its reader
	}
	return gzip.NewReader(in)
}

func showBranches(out io.Writer, path string, s branch.Summary) {
	_, _ = fmt.Fprintf(out, "%s\n%9d read\n%9d taken, %d of them new or changed\n", path, s.Read, s.Imported, s.Changed)
	for _, r := range s.Rejected {
		lines := make([]string, len(r.Lines))
		for i, n := range r.Lines {
			lines[i] = strconv.Itoa(n)
		}
		where := "line " + strings.Join(lines, ", ")
		if r.Rows > len(r.Lines) {
			where += ", …"
		}
		_, _ = fmt.Fprintf(out, "%9d refused: %s (%s)\n", r.Rows, r.Reason, where)
	}
}
