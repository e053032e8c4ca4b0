package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"vayu/dispatch/subscription"
	"vayu/internal/access"
	"vayu/internal/config"
	"vayu/internal/encryption"
	"vayu/internal/filelock"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/pipeline/batch"
	"vayu/pipeline/verify"
)

// newKeyVariable holds the key that replaces one that is a setting.
const newKeyVariable = "VAYU_NEW_ENCRYPTION_KEY"

const (
	// rotationMost is how long the one change of a rotation may take: a day's
	// replies at a thousand a second would, over a network, need half of it.
	rotationMost = 24 * time.Hour
	// leavePatience is how long instances that were stopped just now may take to
	// leave the server.
	leavePatience = 5 * time.Second
	leavePause    = 100 * time.Millisecond
)

func newEncryption() *cobra.Command {
	cmd := &cobra.Command{Use: "encryption", Short: "Rotate the key of what is encrypted in the state store"}
	cmd.AddCommand(newEncryptionRotate())
	return cmd
}

func newEncryptionRotate() *cobra.Command {
	return &cobra.Command{
		Use:   "rotate",
		Short: "Give the state store a new encryption key; the service is stopped for it",
		Long: `Give the state store a new encryption key, and encrypt everything with it that was encrypted with
the old one. Every instance is stopped for it. A key that is a file is made, and replaces
encryption.key in the data directory; other instances get a copy. A key that is a setting comes
from ` + newKeyVariable + `, and becomes the setting once this command has said that the
store has it.

It happens as a whole or not at all, however it is ended; run it again then. A value that cannot
be read stops it, and is named. The old key opens backups of before, and nothing else.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, log, err := loadQuietly(cmd)
			if err != nil {
				return err
			}
			if _, err := os.Stat(cfg.Data); err != nil && (cfg.State == "" || !cfg.Encryption.IsSet()) {
				return noData(cfg.Data)
			}
			if err := unlessRestoring(cfg.Data); err != nil {
				return err
			}
			if !cfg.Encryption.IsSet() { // its file is not for two
				lock, err := filelock.Take(cmd.Context(), filepath.Join(cfg.Data, "encryption.lock"), time.Second)
				if err != nil {
					return fmt.Errorf("rotating the encryption key: %w", err)
				}
				defer lock.Release()
			}
			settings := cfg.state(false)
			// One connection, that of the change: Others sees each.
			settings.Settings.Connections, settings.Patience = 1, rotationMost
			return runState(cmd.Context(), cfg, settings, log, func(ctx context.Context, st *stateTool) error {
				return st.rotate(ctx, cmd.OutOrStdout())
			})
		},
	}
}

// sealedColumns are all columns of the state store whose values are sealed.
func sealedColumns() []encryption.Column {
	return slices.Concat(access.Sealed(), subscription.Sealed(), batch.Sealed(), verify.Sealed())
}

// rotate gives the store another key, and says what was done.
func (st *stateTool) rotate(ctx context.Context, out io.Writer) error {
	if err := st.awaitLeaving(ctx); err != nil {
		return err
	}
	r := encryption.Rotation{Key: st.Encryption, Dir: st.Data, Columns: sealedColumns(), Alone: alone}
	if text := os.Getenv(newKeyVariable); text != "" {
		r.Next = config.NewSecret(text)
	}
	done, err := encryption.Rotate(ctx, st.db, r)
	if err != nil {
		return err
	}
	if done.Again {
		_, _ = fmt.Fprintf(out, "the store has the key %s already, by a rotation before\n", done.To)
	} else {
		for _, c := range done.Resealed {
			_, _ = fmt.Fprintf(out, "%8d of %s.%s\n", c.Values, c.Table, c.Column)
		}
		_, _ = fmt.Fprintf(out, "the encryption key is %s; it was %s, which opens backups of before and nothing else\n", done.To, done.From)
	}
	switch {
	case st.Encryption.IsSet():
		_, _ = fmt.Fprintf(out, "set VAYU_ENCRYPTION_KEY to the new key, for every instance, before you start the service\n")
	case st.State != "":
		_, _ = fmt.Fprintf(out, "copy %s to every other instance before you start it\n", filepath.Join(st.Data, encryptionKey))
	}
	return nil
}

// errOthers says that a rotation has company.
var errOthers = errors.New("other connections of vayu to this database are open: stop every instance and command first " +
	"(a pool of connections in between keeps them for a while)")

// alone fails when another process of vayu uses the store.
func alone(tx *sqlstore.Tx) error {
	n, err := tx.Others()
	if err == nil && n > 0 {
		err = fmt.Errorf("%d %w", n, errOthers)
	}
	return err
}

// awaitLeaving waits until nobody else uses the store, and not for long.
func (st *stateTool) awaitLeaving(ctx context.Context) error {
	limit, done := context.WithTimeout(ctx, leavePatience)
	defer done()
	for {
		err := st.db.Update(ctx, alone)
		if !errors.Is(err, errOthers) || !sleep.For(limit, leavePause) {
			return err
		}
	}
}
