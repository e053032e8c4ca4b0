package backup

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

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
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

const (
	// rotationTimeout limits the transaction that rotates the key. That transaction also re-encrypts the stored replies
	// of one day. For a service with a thousand calls per second, it needs at most half of this time, even over a
	// network.
	rotationTimeout = 24 * time.Hour
	// disconnectTimeout limits how long a rotation waits for recently stopped instances to disconnect.
	disconnectTimeout      = 5 * time.Second
	disconnectPollInterval = 100 * time.Millisecond
)

// NewEncryption returns the command `vayu encryption`.
func NewEncryption() *cobra.Command {
	return tool.Group("encryption", "Rotate the encryption key of the state store", newEncryptionRotate())
}

func newEncryptionRotate() *cobra.Command {
	return &cobra.Command{
		Use:   "rotate",
		Short: "Re-encrypt the state store with a new key; stop the service before",
		Long: `Re-encrypt every encrypted value of the state store with a new key. Stop every instance before. If the key is a file, the
command creates a new one, which replaces encryption.key in the data directory. Copy it to the other instances.
If the key is a setting, the new key comes from ` + settings.NewKeyVariable + `.
Change the setting after this command has reported that the store has the new key.

The rotation is one transaction. If it was interrupted, run it again. A value that cannot be decrypted
ends it with an error that names the value. Afterwards the old key is needed for earlier backups only.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, log, err := settings.LoadQuietly(cmd)
			if err != nil {
				return err
			}
			if _, err := os.Stat(cfg.Data); err != nil && (cfg.State == "" || !cfg.Encryption.IsSet()) {
				return tool.NoData(cfg.Data)
			}
			if err := tool.CheckNotRestoring(cfg.Data); err != nil {
				return err
			}
			if !cfg.Encryption.IsSet() { // only one command at a time may replace the key file
				lock, err := filelock.Acquire(cmd.Context(), filepath.Join(cfg.Data, "encryption.lock"), time.Second)
				if err != nil {
					return fmt.Errorf("rotating the encryption key: %w", err)
				}
				defer lock.Release()
			}
			settings := cfg.StateStore(false)
			// One connection is sufficient for a rotation. With more, OtherConnections would also count connections of
			// this process.
			settings.Settings.Connections, settings.ChangeTimeout = 1, rotationTimeout
			return tool.OpenState(cmd.Context(), cfg, settings, log, func(ctx context.Context, st *tool.State) error {
				return rotateKey(ctx, st, cmd.OutOrStdout())
			})
		},
	}
}

func encryptedColumns() []encryption.Column {
	return slices.Concat(access.EncryptedColumns(), subscription.EncryptedColumns(), batch.EncryptedColumns(), verify.EncryptedColumns())
}

func rotateKey(ctx context.Context, st *tool.State, out io.Writer) error {
	if err := awaitDisconnects(ctx, st.DB); err != nil {
		return err
	}
	r := encryption.Rotation{Key: st.Encryption, Dir: st.Data, Columns: encryptedColumns(), CheckExclusive: checkNoOtherConnections}
	if text := os.Getenv(settings.NewKeyVariable); text != "" {
		r.Next = config.NewSecret(text)
	}
	done, err := encryption.Rotate(ctx, st.DB, r)
	if err != nil {
		return err
	}
	if done.AlreadyRotated {
		_, _ = fmt.Fprintf(out, "the store has the key %s already, by a rotation before\n", done.To)
	} else {
		for _, c := range done.Reencrypted {
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

// errOtherConnections is the error of a rotation while other processes are connected to the store.
var errOtherConnections = errors.New("other connections of vayu to this database are open: stop every instance and command first " +
	"(a pool of connections in between keeps them for a while)")

// checkNoOtherConnections returns an error if another vayu process is connected to the store; on SQLite always nil.
func checkNoOtherConnections(tx *sqlstore.Tx) error {
	n, err := tx.OtherConnections()
	if err == nil && n > 0 {
		err = fmt.Errorf("%d %w", n, errOtherConnections)
	}
	return err
}

// awaitDisconnects waits until no other process is connected to the store. It fails after disconnectTimeout.
func awaitDisconnects(ctx context.Context, db *sqlstore.DB) error {
	limit, done := context.WithTimeout(ctx, disconnectTimeout)
	defer done()
	for {
		err := db.Update(ctx, checkNoOtherConnections)
		if !errors.Is(err, errOtherConnections) || !sleep.For(limit, disconnectPollInterval) {
			return err
		}
	}
}
