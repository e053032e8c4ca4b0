package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"vayu/internal/columnar"
	"vayu/internal/seal"
	"vayu/schema/clickhouse"
)

// Names inside a backup.
const (
	backupName    = "backup.json" // written last
	backupTables  = "clickhouse"
	backupState   = "state"
	encryptionKey = "encryption.key" // as in the data directory
)

// backupNote says that a backup is whole, and what it was made by.
type backupNote struct {
	Version string    `json:"version"` // of vayu
	Made    time.Time `json:"made"`    // UTC
	// Encryption is where the key of what is encrypted in the state store is:
	// keyInBackup, keyInSetting, or nowhere because nothing was encrypted yet.
	Encryption string `json:"encryption"`
}

// Where the key can be.
const (
	keyInBackup  = "file"
	keyInSetting = "setting"
)

func newBackup() *cobra.Command {
	return &cobra.Command{
		Use:   "backup DIR",
		Short: "Copy all that is kept into a new directory, beside a running service or without one",
		Long: `Copy all that is kept into a new directory, beside a running service or without one: the air of both worlds, the
accounts with everything about them, and the key of what is encrypted there. DIR appears when it is whole; until then it is
DIR.partial. Snapshots, logs and the positions of imports are not copied: they are made again.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			began := time.Now()
			dir := filepath.Clean(args[0])
			if err := vacant(dir); err != nil {
				return err
			}
			partial := dir + ".partial"
			if err := os.Mkdir(partial, 0o700); err != nil {
				if errors.Is(err, fs.ErrExist) {
					return fmt.Errorf("%s is there: another backup is at work, or was killed; then remove it", partial)
				}
				return err
			}
			err := backUp(cmd, partial)
			if err == nil {
				err = os.Rename(partial, dir)
			}
			if err != nil {
				return errors.Join(err, os.RemoveAll(partial))
			}
			sayf(cmd, "backup", "%s in %s", dir, time.Since(began).Round(10*time.Millisecond))
			return nil
		},
	}
}

// sayf prints a line of what a command did.
func sayf(cmd *cobra.Command, topic, format string, args ...any) {
	_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%-12s %s\n", topic, fmt.Sprintf(format, args...))
}

// vacant fails when dir exists and has anything in it.
func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty: it has %s", dir, entries[0].Name())
	}
	return err
}

// backUp fills a directory.
func backUp(cmd *cobra.Command, dir string) error {
	err := withDatabase(cmd, func(ctx context.Context, t *tool) error {
		m, err := columnar.Backup(ctx, t.db, clickhouse.Files, worlds(t.db), filepath.Join(dir, backupTables))
		if err == nil {
			sayTables(cmd, m)
		}
		return err
	})
	if err != nil {
		return err
	}
	note := backupNote{Version: version()}
	err = withState(cmd, func(ctx context.Context, st *stateTool) error {
		owner, err := seal.Owner(st.db.View(ctx))
		if err != nil {
			return err
		}
		m, err := st.db.Dump(ctx, filepath.Join(dir, backupState))
		if err != nil {
			return err
		}
		sayf(cmd, "state", "%d rows in %d tables", m.Rows(), len(m.Tables))
		if note.Encryption, err = backUpKey(cmd, st.Config, dir, owner); err != nil {
			return err
		}
		after, err := seal.Owner(st.db.View(ctx))
		if err == nil && after != owner { // the rows may be of before or of after it
			err = errors.New("the encryption key was made or rotated meanwhile; make the backup again")
		}
		return err
	})
	if err != nil {
		return err
	}
	note.Made = time.Now().UTC().Truncate(time.Second)
	text, err := json.MarshalIndent(note, "", "  ")
	if err != nil {
		return err
	}
	return writePrivate(filepath.Join(dir, backupName), append(text, '\n'))
}

// backUpKey copies the encryption key when it is a file, and says where it is.
// Owner is the id of the key that the store was sealed with; empty when nothing is.
func backUpKey(cmd *cobra.Command, cfg Config, dir, owner string) (where string, err error) {
	if owner == "" {
		return "", nil
	}
	if cfg.Encryption.Reveal() != "" {
		sayf(cmd, "encryption", "the key is a setting of yours and not in the backup, which cannot be used without it")
		return keyInSetting, nil
	}
	box, err := seal.Open(cfg.Encryption, cfg.Data)
	if err == nil {
		err = box.Find(owner)
	}
	if err == nil {
		err = copyPrivate(filepath.Join(cfg.Data, encryptionKey), filepath.Join(dir, encryptionKey))
	}
	if err != nil {
		return "", err
	}
	sayf(cmd, "encryption", "the key is in the backup, as %s: who has the backup can read what is encrypted", encryptionKey)
	return keyInBackup, nil
}

// sayTables tells what of ClickHouse is in a backup.
func sayTables(cmd *cobra.Command, m columnar.Manifest) {
	for _, d := range m.Databases {
		var rows uint64
		for _, t := range d.Tables {
			rows += t.Rows()
		}
		sayf(cmd, d.Name, "%d rows in %d tables", rows, len(d.Tables))
		for _, name := range d.Skipped {
			sayf(cmd, d.Name, "the table %s is not Vayu's and is not in the backup", name)
		}
	}
	_, _, bytes, raw := m.Size()
	sayf(cmd, "clickhouse", "%.1f MB in files, %.1f MB before compression", float64(bytes)/1e6, float64(raw)/1e6)
}

// copyPrivate copies a small file that only its owner may read.
func copyPrivate(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writePrivate(to, text)
}

// writePrivate writes a small file that only its owner may read, to disk.
func writePrivate(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
