package embedded

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"vayu/internal/columnstore/embedded/chdb"
)

// Report is the line of JSON that a child writes to stdout: its address, or the reason why it failed to start.
type Report struct {
	Address string `json:"address,omitempty"` // host:port
	Error   string `json:"error,omitempty"`
	Held    bool   `json:"held,omitempty"`    // another process has locked the data directory
	Command bool   `json:"command,omitempty"` // that process is a command, which ends by itself
	Missing bool   `json:"missing,omitempty"` // the library is missing, or not built for this machine
}

// Child is the main function of the engine's process. The hidden command "engine" calls Child with the streams of
// the process. Child reads its Config as one line of JSON from stdin. It runs until stdin closes (the parent
// ended), or SIGTERM or SIGINT arrives. It writes a Report to stdout, and logs JSON lines to stderr.
func Child(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	in := bufio.NewReader(stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the engine command is started by the service itself; reading its configuration: %w", err)
	}
	var cfg Config
	if err := json.Unmarshal(line, &cfg); err != nil {
		return fmt.Errorf("reading the engine's configuration: %w", err)
	}
	report := func(r Report) { _ = json.NewEncoder(stdout).Encode(r) } //nolint:errchkjson // a parent that is gone needs no report
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	cfg.Listened = func(address string) { report(Report{Address: address}) }
	// A hanging engine must not keep the data directory locked. So the process ends within 3*stopTime after ctx.
	context.AfterFunc(ctx, func() { time.AfterFunc(3*stopTime, func() { os.Exit(1) }) })
	if err := Main(ctx, cfg, slog.New(slog.NewJSONHandler(stderr, nil))); err != nil {
		var held *HeldError
		var missing *chdb.MissingLibraryError
		var broken *chdb.BrokenLibraryError
		var unsafe *chdb.UnsafeLibraryError
		report(Report{
			Error: err.Error(), Held: errors.As(err, &held), Command: held != nil && held.Holder.Command,
			Missing: errors.As(err, &missing) || errors.As(err, &broken) || errors.As(err, &unsafe),
		})
		return err
	}
	return nil
}
