// Package embedded runs the real ClickHouse engine, libchdb, inside this process and speaks ClickHouse's HTTP interface on
// loopback. It is meant for a child process of its own: the library is 566 MB, keeps threads of its own and can take the
// process down with it. Package columnstore starts, watches and replaces that child.
//
// What differs from a ClickHouse server: one user ("default"), the setting final is 1 by default, no sessions over HTTP,
// no external tables in multipart bodies, and an answer in a format with a header or footer (JSON, CSVWithNames,
// Parquet …) is built in memory as a whole; formats without (Native, RowBinary, TabSeparated, CSV, JSONEachRow …) are
// streamed.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Config says what the engine process works on.
type Config struct {
	Data       string        `json:"data"`        // data directory
	Library    string        `json:"library"`     // path of libchdb, "" to search for it
	File       string        `json:"file"`        // a configuration in ClickHouse's own form, "" for none
	Port       int           `json:"port"`        // preferred port, 0 for any; a taken one falls back to any
	MaxMemory  int64         `json:"max_memory"`  // bytes one query may use unless it asks otherwise, 0 for no limit
	MaxTime    time.Duration `json:"max_time"`    // how long one query may run unless it asks otherwise, 0 for no limit
	MaxQueries int           `json:"max_queries"` // how many run at once, 0 for 32
	Owner      string        `json:"owner"`       // the command on whose behalf it runs, for the lock file
	Parent     int           `json:"parent"`      // process id of that command

	Listened func(address string) `json:"-"` // called once, with host:port, when it serves; may be nil
}

// stopTime is how long running queries may take to finish after the engine was told to stop; then they are cancelled.
const stopTime = 4 * time.Second

// Main runs the engine until ctx ends. It returns a *MissingLibraryError without the library, an *UnsafeLibraryError for one that others could have changed, and a
// *HeldError when another process has the data directory.
func Main(ctx context.Context, cfg Config, log *slog.Logger) error {
	path, err := FindLibrary(cfg.Library)
	if err != nil {
		return err
	}
	if cfg.Library == "" {
		if err := verifyLibrary(path); err != nil {
			return err
		}
	}
	lock, err := take(ctx, cfg.Data, cfg.Owner, cfg.Parent)
	if err != nil {
		return err
	}
	defer lock.Release()
	secret, err := password(cfg.Data)
	if err != nil {
		return err
	}
	lib, err := loadLibrary(path)
	if err != nil {
		return err
	}
	if cfg.MaxQueries <= 0 {
		cfg.MaxQueries = 32
	}
	pool, err := openSessions(lib, cfg.MaxQueries, cfg.arguments())
	if err != nil {
		return err
	}
	defer pool.close()
	h, err := newHandler(pool, secret, log)
	if err != nil {
		return err
	}
	return serve(ctx, cfg, h, log)
}

// arguments are those of every connection.
func (c Config) arguments() []string {
	args := []string{
		"--path=" + filepath.Join(c.Data, storeName),
		"--implicit_select=0", // "1 + 1" alone is a syntax error, as on a server
		"--final=1",           // of equal keys a client reads the latest version only, unless it sets final to 0
	}
	if c.File != "" {
		args = append(args, "--config-file="+c.File)
	}
	if c.MaxMemory > 0 {
		args = append(args, "--max_memory_usage="+strconv.FormatInt(c.MaxMemory, 10))
	}
	if c.MaxTime > 0 {
		args = append(args, "--max_execution_time="+strconv.FormatFloat(c.MaxTime.Seconds(), 'f', 3, 64))
	}
	return args
}

// serve listens on loopback until ctx ends, then lets running queries finish for stopTime.
func serve(ctx context.Context, cfg Config, h http.Handler, log *slog.Logger) error {
	listener, err := listen(ctx, cfg.Port)
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	port := filepath.Join(cfg.Data, portName)
	if err := replace(port, address+"\n"); err != nil {
		_ = listener.Close()
		return fmt.Errorf("writing the engine's port file: %w", err)
	}
	defer os.Remove(port)

	queries, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    1 << 20,
		BaseContext:       func(net.Listener) context.Context { return queries },
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	log.Info("engine listens", "address", address)
	if cfg.Listened != nil {
		cfg.Listened(address)
	}
	select {
	case err := <-served:
		return fmt.Errorf("serving the engine: %w", err)
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if err := server.Shutdown(patience); errors.Is(err, context.DeadlineExceeded) {
		log.Warn("engine stops with queries running; they are cancelled")
		kill()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if err := server.Shutdown(last); err != nil {
			return fmt.Errorf("stopping the engine: %w", err)
		}
	}
	return nil
}

// listen takes the preferred port of 127.0.0.1 when it is free, any other otherwise.
func listen(ctx context.Context, port int) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil && port != 0 {
		listener, err = config.Listen(ctx, "tcp4", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("listening for the engine: %w", err)
	}
	return listener, nil
}
