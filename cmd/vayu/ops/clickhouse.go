package ops

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/spf13/cobra"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/internal/columnstore"
	"vayu/internal/columnstore/migration"
)

// NewClickHouse returns the command `vayu clickhouse`.
func NewClickHouse() *cobra.Command {
	return tool.Group("clickhouse", "Print the SQL of the tables, and create users for analysts, on a ClickHouse server", newClickHouseDDL(), newClickHouseAnalyst())
}

func newClickHouseDDL() *cobra.Command {
	return &cobra.Command{
		Use:   "ddl",
		Short: "Print the SQL that creates Vayu's databases, for the configured settings",
		Long: `Print the SQL that creates Vayu's databases on a server or cluster, for the configured settings. It connects to no
server. serve and migrate run this SQL themselves, if their user is permitted to.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, _, err := settings.LoadQuietly(cmd)
			if err != nil {
				return err
			}
			for _, p := range tool.Databases(cfg.Cluster) {
				statements, err := migration.DDL(p)
				if err != nil {
					return err
				}
				if err := printStatements(cmd.OutOrStdout(), append(statements, migration.StorageStatements(cfg.Engine.Storage, p)...)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func printStatements(w io.Writer, statements []string) error {
	for _, s := range statements {
		if _, err := fmt.Fprintf(w, "%s;\n\n", strings.TrimSpace(s)); err != nil {
			return err
		}
	}
	return nil
}

// errEmbeddedUsers rejects the creation of users on the embedded engine, which has two fixed users.
var errEmbeddedUsers = errors.New(`the embedded engine has the user "analyst", whose password is in DATA/analyst.password and whose limits are the ` +
	`settings engine.analysts; further users need a ClickHouse server (setting clickhouse)`)

func newClickHouseAnalyst() *cobra.Command {
	var apply, ask bool
	limits := columnstore.DefaultAnalyst()
	cmd := &cobra.Command{
		Use:   "analyst NAME",
		Short: "Create a user that can read Vayu's tables within limits, or print the SQL for it",
		Long: `Create a user of a ClickHouse server or cluster who may read Vayu's tables and nothing else, within a settings profile and a quota; or
print the SQL for it, which is the default. The password is generated and shown once, on standard error. With --hash the SHA-256 of a
password is read from standard input instead, in hexadecimal: printf %s "$PASSWORD" | sha256sum. Running it again sets a new password.`,
		Example: `  vayu clickhouse analyst reports > reports.sql
  vayu clickhouse analyst reports --apply`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, _, err := settings.LoadQuietly(cmd)
			if err != nil {
				return err
			}
			if cfg.ClickHouse == "" {
				return errEmbeddedUsers
			}
			password := rand.Text()
			sum := sha256.Sum256([]byte(password))
			hash := hex.EncodeToString(sum[:])
			if ask {
				password = ""
				if hash, err = readHash(cmd.InOrStdin()); err != nil {
					return err
				}
			}
			limits.Name, limits.Hash, limits.Cluster, limits.Private = args[0], hash, cfg.Cluster, cfg.ColumnStore().Private
			if limits.Service, err = cfg.ColumnStore().User(); err != nil {
				return err
			}
			for _, world := range tool.Worlds(cfg.Cluster) {
				limits.Databases = append(limits.Databases, world.Database)
			}
			statements, err := limits.Statements()
			if err != nil {
				return err
			}
			if !apply {
				err = printStatements(cmd.OutOrStdout(), statements)
			} else {
				err = applyStatements(cmd, statements)
			}
			if err == nil && password != "" {
				_, err = fmt.Fprintf(cmd.ErrOrStderr(), "The password of %s, which is shown this once: %s\n", args[0], password)
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&apply, "apply", false, "run the SQL; the user of the DSN needs the right ACCESS MANAGEMENT")
	flags.BoolVar(&ask, "hash", false, "read the SHA-256 of the password from standard input")
	flags.TextVar(&limits.Memory, "memory", limits.Memory, "memory of one query")
	flags.DurationVar(&limits.Time, "time", limits.Time, "how long one query may run")
	flags.Uint64Var(&limits.Rows, "rows", limits.Rows, "rows of one answer")
	flags.Uint64Var(&limits.Queries, "queries", limits.Queries, "queries in an hour")
	flags.DurationVar(&limits.Total, "total", limits.Total, "execution time of all queries in an hour")
	return cmd
}

// readHash reads a SHA-256 in hexadecimal. It ignores the file name that sha256sum prints after the hash.
func readHash(in io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(in, 1<<10)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading the hash: %w", err)
	}
	fields := strings.Fields(line)
	if raw, err := hex.DecodeString(strings.Join(fields[:min(1, len(fields))], "")); err != nil || len(raw) != sha256.Size {
		return "", errors.New("standard input is not a SHA-256 in hexadecimal: it has 64 digits")
	}
	return strings.ToLower(fields[0]), nil
}

func applyStatements(cmd *cobra.Command, statements []string) error {
	return tool.WithDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
		for s := range slices.Values(statements) {
			if err := t.DB.Conn().Exec(ctx, s); err != nil {
				return fmt.Errorf("%s …: %w", strings.Join(strings.Fields(s)[:2], " "), clickHouseError(err))
			}
		}
		return nil
	})
}

// clickHouseError reduces an error of the ClickHouse server to its code and message. It wraps any other error.
func clickHouseError(err error) error {
	if e, ok := errors.AsType[*clickhouse.Exception](err); ok {
		return fmt.Errorf("ClickHouse, code %d: %s", e.Code, e.Message)
	}
	if err != nil {
		return fmt.Errorf("querying ClickHouse: %w", err)
	}
	return nil
}
