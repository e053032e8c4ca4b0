package main

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

	"vayu/internal/columnar"
	"vayu/internal/state"
	"vayu/schema/clickhouse"
)

// restoringName marks a data directory into which a restore is at work, or was
// killed: it is half of something.
const restoringName = "restore.partial"

func newRestore() *cobra.Command {
	return &cobra.Command{
		Use:   "restore DIR",
		Short: "Bring a backup back into an empty data directory, and empty servers where they are used",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			began := time.Now()
			cfg, log, err := loadQuietly(cmd)
			if err != nil {
				return err
			}
			note, err := readNote(args[0])
			if err != nil {
				return err
			}
			if note.Encryption == keyInSetting && cfg.Encryption.Reveal() == "" {
				return errors.New("the backup was made with the encryption key as a setting: set VAYU_ENCRYPTION_KEY to that key")
			}
			if err := vacant(cfg.Data); err != nil {
				return fmt.Errorf("a backup is restored into an empty data directory: %w", err)
			}
			if err := state.Vacant(cmd.Context(), cfg.state(false), filepath.Join(args[0], backupState), log); err != nil {
				return err // before the air, which is long and on a server stays
			}
			if err := makeData(cfg.Data); err != nil {
				return err
			}
			mark := filepath.Join(cfg.Data, restoringName)
			if err := writePrivate(mark, nil); err != nil {
				return err
			}
			err = bringBack(cmd, cfg, log, note, args[0])
			if err != nil {
				return errors.Join(err, emptyAgain(cfg.Data))
			}
			if err := os.Remove(mark); err != nil {
				return err
			}
			sayf(cmd, "restored", "the backup of %s by %s, into %s in %s", note.Made.Format(time.RFC3339), note.Version,
				cfg.Data, time.Since(began).Round(10*time.Millisecond))
			return nil
		},
	}
}

// unlessRestoring refuses a data directory that is half of something.
func unlessRestoring(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, restoringName)); err == nil {
		return fmt.Errorf("a restore into %s is at work, or was killed: then empty the directory and restore again", dir)
	}
	return nil
}

// readNote finds out whether dir is a whole backup.
func readNote(dir string) (note backupNote, err error) {
	path := filepath.Join(dir, backupName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return note, fmt.Errorf("%s is no whole backup: it has no %s", dir, backupName)
	}
	if err != nil {
		return note, err
	}
	if err := json.Unmarshal(text, &note); err != nil {
		return note, fmt.Errorf("%s is damaged: %w", path, err)
	}
	return note, nil
}

// bringBack restores every part of a backup.
func bringBack(cmd *cobra.Command, cfg Config, log *slog.Logger, note backupNote, dir string) error {
	if note.Encryption == keyInBackup {
		if err := copyPrivate(filepath.Join(dir, encryptionKey), filepath.Join(cfg.Data, encryptionKey)); err != nil {
			return err
		}
	}
	t := &tool{Config: cfg, log: log, reg: prometheus.NewRegistry()}
	err := t.run(cmd.Context(), t.columnar(), func(ctx context.Context) error {
		m, err := columnar.Restore(ctx, t.db, clickhouse.Files, worlds(t.db), filepath.Join(dir, backupTables))
		if err != nil {
			return err
		}
		sayTables(cmd, m)
		if err := store(ctx, t.db); err != nil { // what was restored is worth more
			log.WarnContext(ctx, "the tables are not stored as engine.storage says; the next start of an instance with the role ingest tries again", "error", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := state.Load(cmd.Context(), cfg.state(false), filepath.Join(dir, backupState), log); err != nil {
		if cfg.ClickHouse != "" {
			err = fmt.Errorf("%w (the databases on %s are restored already; drop them before another try)", err, cfg.ClickHouse)
		}
		return err
	}
	return nil
}

// emptyAgain removes what a failed restore has left in a data directory that
// was empty before it.
func emptyAgain(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}
