package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"vayu/internal/columnstore/embedded/chdb"
	"vayu/internal/columnstore/embedded/fence"
)

// Report is the line of JSON that a child writes to stdout: its address, or the reason why it failed to start.
type Report struct {
	Address string `json:"address,omitempty"` // host:port
	Error   string `json:"error,omitempty"`
	Held    bool   `json:"held,omitempty"`    // another process has locked the data directory
	Command bool   `json:"command,omitempty"` // that process is a command, which ends by itself
	Missing bool   `json:"missing,omitempty"` // the library is missing, or not built for this machine
}

// Fence describes how Landlock restricts the engine on this machine. `file` is ClickHouse's configuration file or "".
func Fence(file string) string { return fence.State(fence.Version(), file != "") }

// Child is the main function of the engine's process. The hidden command "engine" calls Child with the streams of
// the process. Child reads its Config as one line of JSON from stdin. It runs until stdin closes (the parent
// ended), or SIGTERM or SIGINT arrives. It writes a Report to stdout, and logs JSON lines to stderr.
//
// The process has two stages. The first stage writes the files that the engine must not change, and then executes the
// program again, restricted by Landlock (package fence). The second stage is the engine.
func Child(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	report := func(r Report) { _ = json.NewEncoder(stdout).Encode(r) } //nolint:errchkjson // a parent that is gone needs no report
	fenced, err := inherited()
	if err == nil && fenced == nil {
		err = enter(ctx, stdin)
	}
	if err == nil {
		err = fenced.serve(ctx, stdin, report, slog.New(slog.NewJSONHandler(stderr, nil)))
	}
	if err != nil {
		var held *HeldError
		var missing *chdb.MissingLibraryError
		var broken *chdb.BrokenLibraryError
		var unsafe *chdb.UnsafeLibraryError
		report(Report{
			Error: err.Error(), Held: errors.As(err, &held), Command: held != nil && held.Holder.Command,
			Missing: errors.As(err, &missing) || errors.As(err, &broken) || errors.As(err, &unsafe),
		})
	}
	return err
}

// serve runs the engine until ctx or stdin ends.
func (s *stage) serve(ctx context.Context, stdin io.Reader, report func(Report), log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		cancel()
	}()
	s.Config.Listened = func(address string) { report(Report{Address: address}) }
	// A hanging engine must not keep the data directory locked. So the process exits within 3*stopTime after ctx ends.
	context.AfterFunc(ctx, func() {
		time.AfterFunc(3*stopTime, func() {
			log.Error("the engine does not stop, so its process is ended")
			os.Exit(1)
		})
	})
	if fence.Version() < fence.Whole {
		log.Warn("the engine is not fenced in completely", "state", Fence(s.Config.File))
	}
	return run(ctx, s.Config, s.Secrets, log)
}
