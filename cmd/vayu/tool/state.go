package tool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/settings"
	"vayu/internal/access/audit"
	"vayu/internal/encryption"
	"vayu/internal/lifecycle"
	"vayu/internal/sqlstore"
)

// State has the store and the settings that a short-lived command needs to work with the state store.
type State struct {
	settings.Config
	Log *slog.Logger
	DB  *sqlstore.DB
}

// WithState calls `work` when the state store is ready. With SQLite, the data directory must already exist.
func WithState(cmd *cobra.Command, work func(ctx context.Context, st *State) error) error {
	return runState(cmd, false, work)
}

// WithKey does the same as [WithState], but loads the encryption key before it calls `work`. A command that appends to
// the audit log needs the key, because the log has MACs.
func WithKey(cmd *cobra.Command, work func(ctx context.Context, st *State) error) error {
	return WithState(cmd, WithEncryption(work))
}

// WithEncryption returns a function that first loads the encryption key of the store, and then calls `work`.
func WithEncryption(work func(ctx context.Context, st *State) error) func(ctx context.Context, st *State) error {
	return func(ctx context.Context, st *State) error {
		if _, err := st.OpenCipher(ctx); err != nil {
			return err
		}
		return work(ctx, st)
	}
}

// WithNewState does the same as [WithState], but first creates the data directory if it does not exist.
func WithNewState(cmd *cobra.Command, work func(ctx context.Context, st *State) error) error {
	return runState(cmd, true, work)
}

func runState(cmd *cobra.Command, create bool, work func(ctx context.Context, st *State) error) error {
	cfg, log, err := settings.LoadQuietly(cmd)
	if err != nil {
		return err
	}
	if _, err := os.Stat(cfg.Data); err != nil && cfg.State == "" {
		if !create {
			return NoData(cfg.Data)
		}
		if quiet, err := cmd.Flags().GetBool("quiet"); err != nil || !quiet {
			_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "there is no data directory %q yet; creating it\n", cfg.Data)
		}
	}
	if err := CheckNotRestoring(cfg.Data); err != nil {
		return err
	}
	return OpenState(cmd.Context(), cfg, cfg.StateStore(true), log, work)
}

// OpenState opens the state store, calls `work` when the store is ready, and closes the store when `work` has returned.
func OpenState(ctx context.Context, cfg settings.Config, settings sqlstore.Config, log *slog.Logger, work func(ctx context.Context, st *State) error) error {
	st := &State{Config: cfg, Log: log}
	var err error
	if st.DB, err = sqlstore.Open(settings, log, nil); err != nil {
		return err
	}
	ctx, done := context.WithCancel(ctx)
	defer done()
	var outcome error
	err = lifecycle.Run(ctx, log,
		lifecycle.Part{Name: "state", Run: st.DB.Run, Ready: st.DB.Ready},
		lifecycle.Part{Name: "command", Run: func(ctx context.Context) error {
			outcome = work(ctx, st)
			done()
			<-ctx.Done()
			return nil
		}})
	return errors.Join(outcome, err)
}

// OpenCipher loads the encryption key, and fails if the store has another key. It also calls [audit.KeyHeads].
func (st *State) OpenCipher(ctx context.Context) (*encryption.Cipher, error) {
	cipher, err := encryption.Open(st.Encryption, st.Data)
	if err != nil {
		return nil, err
	}
	if err := cipher.Claim(ctx, st.DB); err != nil {
		return nil, err
	}
	if err := audit.KeyHeads(ctx, st.DB, time.Now()); err != nil { // only a warning, so that `vayu key revoke` still works
		st.Log.WarnContext(ctx, "the heads of the audit log cannot be authenticated", "error", err)
	}
	return cipher, nil
}
