// Package backup has the commands that back up and restore all data, and rotate the encryption key.
package backup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/internal/agefile"
	columnbackup "vayu/internal/columnstore/backup"
	"vayu/internal/encryption"
	"vayu/internal/sqlstore/dump"
)

// Names of files and folders in a backup.
const (
	backupName    = "backup.json" // the manifest; written last
	backupTables  = "clickhouse"
	backupState   = "state"
	encryptionKey = "encryption.key" // the same name as in the data directory
)

// backupManifest describes a backup. It is written last, so its presence means that the backup is complete.
type backupManifest struct {
	Version string    `json:"version"` // of vayu
	Made    time.Time `json:"made"`    // UTC
	// Encryption states where the encryption key of the state store is: keyInBackup, keyInSetting or keyApart. It is
	// empty if the store has no key yet.
	Encryption string `json:"encryption"`
	// Owner is the id of the key that encrypts the state store. It is empty if there is no key, and in backups of
	// earlier versions.
	Owner string `json:"owner,omitempty"`
	// Recipient has the public keys (of the tool age) to which the backup is encrypted; empty for a plain backup.
	Recipient string `json:"recipient,omitempty"`
}

// Values of the field Encryption: where the encryption key was at the time of the backup.
const (
	keyInBackup  = "file"
	keyInSetting = "setting"
	keyApart     = "apart" // in the data directory, but not in the backup
)

// stagingName is the folder in the data directory in which a backup is built before it is encrypted. Only the owner may
// read this folder.
const stagingName = "backup.staging"

// NewBackup returns the command `vayu backup`.
func NewBackup() *cobra.Command {
	var recipient string
	cmd := &cobra.Command{
		Use:   "backup DIR",
		Short: "Copy all data into a new directory, beside a running service or without one",
		Long: `Copy all data into a new directory, beside a running service or without one: the readings and figures of both worlds,
and the state store. With an age recipient (age1…) every file is encrypted to it, and the backup contains the encryption key of
the state store. Without a recipient the backup lacks that key. The directory is DIR.partial until the backup is complete.
Snapshots, logs and import positions are not copied, because the service makes them again.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			began := time.Now()
			dir := filepath.Clean(args[0])
			if err := checkEmptyDir(dir); err != nil {
				return err
			}
			cfg, _, err := settings.LoadQuietly(cmd)
			if err != nil {
				return err
			}
			note := backupManifest{Version: settings.Version(), Recipient: cmp.Or(recipient, cfg.Backup.Recipient)}
			recipients, err := note.recipients()
			if err != nil {
				return err
			}
			partial := dir + ".partial"
			if err := os.Mkdir(partial, 0o700); err != nil {
				if errors.Is(err, fs.ErrExist) {
					return fmt.Errorf("%s exists: another backup is running, or was killed; in that case remove it", partial)
				}
				return err
			}
			if recipients == nil {
				err = backUp(cmd, partial, &note)
			} else {
				err = backUpEncrypted(cmd, cfg.Data, partial, &note, recipients)
			}
			if err == nil {
				err = note.write(partial)
			}
			if err == nil {
				err = os.Rename(partial, dir)
			}
			if err != nil {
				return errors.Join(err, os.RemoveAll(partial))
			}
			tool.PrintLinef(cmd, "backup", "%s in %s", dir, time.Since(began).Round(10*time.Millisecond))
			return nil
		},
	}
	cmd.Flags().StringVar(&recipient, "recipient", "", "recipient of age to which the backup is encrypted; that of the setting backup.recipient when empty")
	return cmd
}

// recipients parses the field Recipient. It returns nil if the backup is not to be encrypted.
func (n *backupManifest) recipients() ([]age.Recipient, error) {
	if n.Recipient == "" {
		return nil, nil
	}
	all, err := agefile.Recipients(n.Recipient)
	if err != nil {
		return nil, fmt.Errorf("--recipient or backup.recipient: %w", err)
	}
	return all, nil
}

// write adds the manifest to the backup in dir. The manifest marks the backup as complete.
func (n *backupManifest) write(dir string) error {
	n.Made = time.Now().UTC().Truncate(time.Second)
	text, err := json.MarshalIndent(n, "", "  ")
	if err != nil {
		return err
	}
	return writePrivate(filepath.Join(dir, backupName), append(text, '\n'))
}

// backUpEncrypted writes a backup into a folder of the data directory, and then encrypts its files into dir.
func backUpEncrypted(cmd *cobra.Command, data, dir string, note *backupManifest, recipients []age.Recipient) (err error) {
	staging := filepath.Join(data, stagingName)
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(staging, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s exists: another backup is running, or was killed; in that case remove it", staging)
		}
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	if err := backUp(cmd, staging, note); err != nil {
		return err
	}
	if err := agefile.Encrypt(staging, dir, recipients); err != nil {
		return fmt.Errorf("encrypting the backup: %w", err)
	}
	tool.PrintLinef(cmd, "encryption", "every file is encrypted to %s", note.Recipient)
	return nil
}

func checkEmptyDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty: it has %s", dir, entries[0].Name())
	}
	return err
}

// backUp writes a backup into a directory. It sets the fields of `note` about the encryption key of the state store.
func backUp(cmd *cobra.Command, dir string, note *backupManifest) error {
	err := tool.WithDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
		m, err := columnbackup.Write(ctx, t.DB, tool.Databases(t.Cluster), filepath.Join(dir, backupTables))
		if err == nil {
			printTables(cmd, m)
		}
		return err
	})
	if err != nil {
		return err
	}
	return tool.WithState(cmd, func(ctx context.Context, st *tool.State) error {
		owner, err := encryption.StoreKeyID(st.DB.View(ctx))
		if err != nil {
			return err
		}
		note.Owner = owner
		m, err := dump.Write(ctx, st.DB, filepath.Join(dir, backupState))
		if err != nil {
			return err
		}
		tool.PrintLinef(cmd, "state", "%d rows in %d tables", m.Rows(), len(m.Tables))
		if note.Encryption, err = backUpKey(cmd, st.Config, dir, owner, note.Recipient != ""); err != nil {
			return err
		}
		after, err := encryption.StoreKeyID(st.DB.View(ctx))
		if err == nil && after != owner { // some rows of the dump may be encrypted with another key
			err = errors.New("the encryption key changed during the backup; run the backup again")
		}
		return err
	})
}

// backUpKey copies the key file into dir, unless the key is a setting or the backup will not be encrypted. It returns
// where the key is, such as keyInBackup. `owner` is the id of the store's key, or "" if the store has no key.
func backUpKey(cmd *cobra.Command, cfg settings.Config, dir, owner string, encrypted bool) (where string, err error) {
	if owner == "" {
		return "", nil
	}
	if cfg.Encryption.Reveal() != "" {
		tool.PrintLinef(cmd, "encryption", "the key is a setting of yours and not in the backup, which cannot be used without it")
		return keyInSetting, nil
	}
	cipher, err := encryption.Open(cfg.Encryption, cfg.Data)
	if err == nil {
		err = cipher.Find(owner)
	}
	if err == nil && !encrypted {
		tool.PrintLinef(cmd, "encryption", "the key is not in the backup, which is not encrypted: keep a copy of %s elsewhere, or use --recipient",
			filepath.Join(cfg.Data, encryptionKey))
		return keyApart, nil
	}
	if err == nil {
		err = copyPrivate(filepath.Join(cfg.Data, encryptionKey), filepath.Join(dir, encryptionKey))
	}
	if err != nil {
		return "", err
	}
	tool.PrintLinef(cmd, "encryption", "the key of the state store is in the backup, as %s", encryptionKey+agefile.Suffix)
	return keyInBackup, nil
}

func printTables(cmd *cobra.Command, m columnbackup.Manifest) {
	for _, d := range m.Databases {
		var rows uint64
		for _, t := range d.Tables {
			rows += t.Rows()
		}
		tool.PrintLinef(cmd, d.Name, "%d rows in %d tables", rows, len(d.Tables))
		for _, name := range d.Skipped {
			tool.PrintLinef(cmd, d.Name, "the table %s is not Vayu's and is not in the backup", name)
		}
	}
	_, _, bytes, raw := m.Size()
	tool.PrintLinef(cmd, "clickhouse", "%.1f MB in files, %.1f MB before compression", float64(bytes)/1e6, float64(raw)/1e6)
}

// copyPrivate copies a small file. Only the owner of the copy may read the copy.
func copyPrivate(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writePrivate(to, text)
}

// writePrivate creates a small file durably. Only the owner of the file may read it.
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
