package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"vayu/internal/access"
	"vayu/internal/encryption"
	"vayu/internal/lifecycle"
	"vayu/internal/sqlstore"
)

// stateTool is what a command needs that works with the state store and then ends.
type stateTool struct {
	Config
	log *slog.Logger
	db  *sqlstore.DB
}

// withState runs work as soon as the state store is ready, even beside a running service. The data directory
// must exist.
func withState(cmd *cobra.Command, work func(ctx context.Context, st *stateTool) error) error {
	return runStateTool(cmd, false, work)
}

// withKey is withState for work that appends to the audit log, which needs the encryption key for its MACs.
func withKey(cmd *cobra.Command, work func(ctx context.Context, st *stateTool) error) error {
	return withState(cmd, withEncryption(work))
}

// withEncryption returns a function that opens the encryption key of the store and then runs work.
func withEncryption(work func(ctx context.Context, st *stateTool) error) func(ctx context.Context, st *stateTool) error {
	return func(ctx context.Context, st *stateTool) error {
		if _, err := st.openCipher(ctx); err != nil {
			return err
		}
		return work(ctx, st)
	}
}

// withNewState is withState for commands that may create the data directory.
func withNewState(cmd *cobra.Command, work func(ctx context.Context, st *stateTool) error) error {
	return runStateTool(cmd, true, work)
}

func runStateTool(cmd *cobra.Command, create bool, work func(ctx context.Context, st *stateTool) error) error {
	cfg, log, err := loadQuietly(cmd)
	if err != nil {
		return err
	}
	if _, err := os.Stat(cfg.Data); err != nil && cfg.State == "" {
		if !create {
			return noData(cfg.Data)
		}
		if quiet, err := cmd.Flags().GetBool("quiet"); err != nil || !quiet {
			_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "there is no data directory %q yet; it is made\n", cfg.Data)
		}
	}
	if err := checkNotRestoring(cfg.Data); err != nil {
		return err
	}
	return runState(cmd.Context(), cfg, cfg.state(true), log, work)
}

// runState opens the state store, runs work as soon as it is ready, and closes it.
func runState(ctx context.Context, cfg Config, settings sqlstore.Config, log *slog.Logger, work func(ctx context.Context, st *stateTool) error) error {
	st := &stateTool{Config: cfg, log: log}
	var err error
	if st.db, err = sqlstore.Open(settings, log, nil); err != nil {
		return err
	}
	ctx, done := context.WithCancel(ctx)
	defer done()
	var outcome error
	err = lifecycle.Run(ctx, log,
		lifecycle.Part{Name: "state", Run: st.db.Run, Ready: st.db.Ready},
		lifecycle.Part{Name: "command", Run: func(ctx context.Context) error {
			outcome = work(ctx, st)
			done()
			<-ctx.Done()
			return nil
		}})
	return errors.Join(outcome, err)
}

// openCipher opens the encryption key, and checks that it is the key of the store.
func (st *stateTool) openCipher(ctx context.Context) (*encryption.Cipher, error) {
	box, err := encryption.Open(st.Encryption, st.Data)
	if err != nil {
		return nil, err
	}
	if err := box.Claim(ctx, st.db); err != nil {
		return nil, err
	}
	if err := access.KeyHeads(ctx, st.db, time.Now()); err != nil { // logged only, so that key revoke still works
		st.log.WarnContext(ctx, "the heads of the audit log cannot be authenticated", "error", err)
	}
	return box, nil
}
