package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/internal/agefile"
	columnbackup "vayu/internal/columnstore/backup"
	"vayu/internal/encryption"
	"vayu/internal/sqlstore/dump"
)

// decryptedName is the folder in the data directory that has the decrypted backup during a restore.
const decryptedName = "restore.decrypted"

// NewRestore returns the command `vayu restore`.
func NewRestore() *cobra.Command {
	var identity, key string
	cmd := &cobra.Command{
		Use:   "restore DIR",
		Short: "Restore a backup into an empty data directory, and into empty servers where they are used",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			began := time.Now()
			cfg, log, err := settings.LoadQuietly(cmd)
			if err != nil {
				return err
			}
			note, err := readNote(args[0])
			if err != nil {
				return err
			}
			if cfg.Encryption.Reveal() == "" && key == "" {
				if err := note.missingKeyError(); err != nil {
					return err
				}
			}
			if err := checkEmptyDir(cfg.Data); err != nil {
				return fmt.Errorf("a backup is restored into an empty data directory: %w", err)
			}
			if note.Recipient == "" {
				err = fillMarked(cfg.Data, func() error { return restoreFrom(cmd, cfg, log, note, args[0], key) })
			} else {
				err = restoreEncrypted(cmd, cfg, log, note, args[0], key, identity)
			}
			if err != nil {
				return err
			}
			tool.PrintLinef(cmd, "restored", "the backup of %s by %s, into %s in %s", note.Made.Format(time.RFC3339), note.Version,
				cfg.Data, time.Since(began).Round(10*time.Millisecond))
			return nil
		},
	}
	cmd.Flags().StringVar(&identity, "identity", "", "file with the private key of age to which the backup is encrypted")
	cmd.Flags().StringVar(&key, "key", "", "copy of encryption.key, for a backup that was made without it")
	return cmd
}

// missingKeyError returns an error if the user must supply the encryption key, because the backup does not contain it.
// Otherwise it returns nil.
func (n *backupManifest) missingKeyError() error {
	switch n.Encryption {
	case keyInSetting:
		return errors.New("the backup was made with the encryption key as a setting: set VAYU_ENCRYPTION_KEY to that key")
	case keyApart:
		return errors.New("the encryption key is not in the backup: name a copy of encryption.key with --key")
	}
	return nil
}

// restoreEncrypted decrypts a backup into a folder of the data directory. It restores the data from that folder.
func restoreEncrypted(cmd *cobra.Command, cfg settings.Config, log *slog.Logger, note backupManifest, dir, key, identity string) error {
	if identity == "" {
		return fmt.Errorf("the backup is encrypted to %s: name the file with its private key with --identity", note.Recipient)
	}
	identities, err := agefile.Identities(identity)
	if err != nil {
		return err
	}
	return fillMarked(cfg.Data, func() error {
		decrypted := filepath.Join(cfg.Data, decryptedName)
		if err := agefile.Decrypt(dir, decrypted, identities); err != nil {
			return err
		}
		if err := restoreFrom(cmd, cfg, log, note, decrypted, key); err != nil {
			return err
		}
		return os.RemoveAll(decrypted)
	})
}

// fillMarked creates a data directory and calls `fill` to fill it. A file marks the directory as incomplete
// until `fill` has succeeded. If `fill` fails, fillMarked empties the directory.
func fillMarked(dir string, fill func() error) error {
	if err := tool.MakeData(dir); err != nil {
		return err
	}
	mark := filepath.Join(dir, tool.RestoringName)
	if err := writePrivate(mark, nil); err != nil {
		return err
	}
	if err := fill(); err != nil {
		return errors.Join(err, removeContents(dir))
	}
	return os.Remove(mark)
}

func restoreFrom(cmd *cobra.Command, cfg settings.Config, log *slog.Logger, note backupManifest, dir, key string) error {
	if err := dump.CheckEmpty(cmd.Context(), cfg.StateStore(false), filepath.Join(dir, backupState), log); err != nil {
		return err // checked before the restore of ClickHouse, which takes long and cannot be undone on a server
	}
	if note.Encryption == keyInBackup {
		key = filepath.Join(dir, encryptionKey)
	}
	if key != "" {
		if err := copyPrivate(key, filepath.Join(cfg.Data, encryptionKey)); err != nil {
			return err
		}
	}
	if err := note.checkKey(cfg); err != nil {
		return err
	}
	return restoreStores(cmd, cfg, log, dir)
}

// checkKey checks that the backup was made with the encryption key of the data directory or the settings.
func (n *backupManifest) checkKey(cfg settings.Config) error {
	if n.Owner == "" {
		return nil
	}
	cipher, err := encryption.Open(cfg.Encryption, cfg.Data)
	if err == nil {
		err = cipher.Find(n.Owner)
	}
	if err != nil {
		return fmt.Errorf("the encryption key, of --key or VAYU_ENCRYPTION_KEY, is not that of the backup: %w", err)
	}
	return nil
}

func readNote(dir string) (note backupManifest, err error) {
	path := filepath.Join(dir, backupName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return note, fmt.Errorf("%s is not a complete backup: it has no %s", dir, backupName)
	}
	if err != nil {
		return note, err
	}
	if err := json.Unmarshal(text, &note); err != nil {
		return note, fmt.Errorf("%s is damaged: %w", path, err)
	}
	return note, nil
}

func restoreStores(cmd *cobra.Command, cfg settings.Config, log *slog.Logger, dir string) error {
	t := &tool.Database{Config: cfg, Log: log, Reg: prometheus.NewRegistry()}
	err := t.Run(cmd.Context(), t.ColumnStore(), func(ctx context.Context) error {
		m, err := columnbackup.Restore(ctx, t.DB, tool.Databases(t.Cluster), filepath.Join(dir, backupTables))
		if err != nil {
			return err
		}
		printTables(cmd, m)
		if err := tool.ApplyStorage(ctx, t.DB); err != nil { // a failure must not fail the restore
			log.WarnContext(ctx, "could not apply engine.storage to the tables; the next start of an instance with the role ingest retries", "error", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := dump.Load(cmd.Context(), cfg.StateStore(false), filepath.Join(dir, backupState), log); err != nil {
		if cfg.ClickHouse != "" {
			err = fmt.Errorf("%w (the databases on %s are restored already; drop them before another try)", err, cfg.ClickHouse)
		}
		return err
	}
	return nil
}

// removeContents empties a data directory after a failed restore.
func removeContents(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}
