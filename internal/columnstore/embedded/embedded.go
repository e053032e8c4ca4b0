// Package embedded runs the real ClickHouse engine, libchdb, inside this process and serves ClickHouse's HTTP interface
// on loopback. It is meant for a child process: the library is 566 MB, has threads of its own and can crash the
// process. Package columnstore starts, watches and restarts that child.
//
// Differences from a ClickHouse server: there are two users ("default" and "analyst"), and the setting final is 1 by
// default. If the kernel has Landlock, the process can use only its own files and the folders that Config.File names.
package embedded

import (
	"cmp"
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

	"vayu/internal/columnstore/embedded/access"
	"vayu/internal/columnstore/embedded/chdb"
	"vayu/internal/columnstore/embedded/session"
)

// Limits are the rights and limits of the user analyst.
type Limits = access.Limits

// Config is the configuration of the engine process.
type Config struct {
	Data       string        `json:"data"`        // data directory
	Library    string        `json:"library"`     // path of libchdb, "" to search for it
	File       string        `json:"file"`        // a ClickHouse configuration file, "" for none
	Port       int           `json:"port"`        // preferred port, 0 for any; falls back to any if in use
	MaxMemory  int64         `json:"max_memory"`  // limit of memory of a query that sets none, in bytes; 0 for no limit
	MaxTime    time.Duration `json:"max_time"`    // limit of the duration of a query that sets none; 0 for no limit
	MaxQueries int           `json:"max_queries"` // concurrent queries, 0 for 32
	Owner      string        `json:"owner"`       // the command that started the engine, for the lock file
	Parent     int           `json:"parent"`      // process id of that command
	Command    bool          `json:"command"`     // the owner ends by itself, unlike a service
	Analysts   Limits        `json:"analysts"`    // rights and limits of the user analyst
	Listen     Listen        `json:"listen"`      // a further address for the user analyst

	Listened func(address string) `json:"-"` // called once with host:port when the listener is open; may be nil
}

// stopTime is how long running queries may continue after the request to stop. Then the process cancels them.
const stopTime = 4 * time.Second

// run runs the engine until ctx ends. The error is a *MissingLibraryError if the library is not found. It is an
// *UnsafeLibraryError if other users can change the library, or if the hash of a library that FindLibrary found by
// search is wrong. It is a *HeldError if another process has locked the data directory.
func run(ctx context.Context, cfg Config, passwords secrets, log *slog.Logger) error {
	path, err := chdb.FindLibrary(cfg.Library)
	if err != nil {
		return err
	}
	if cfg.Library == "" {
		if err := chdb.Verify(path); err != nil {
			return err
		}
	}
	lock, err := acquire(ctx, cfg.Data, Holder{Owner: cfg.Owner, Parent: cfg.Parent, Command: cfg.Command})
	if err != nil {
		return err
	}
	defer lock.Release()
	lib, err := chdb.Load(path)
	if err != nil {
		return err
	}
	if cfg.MaxQueries <= 0 {
		cfg.MaxQueries = 32
	}
	pool, err := session.Open(lib, session.Config{Arguments: cfg.arguments(), Admin: cfg.limits(), Queries: cfg.MaxQueries, Analysts: cfg.Analysts})
	if err != nil {
		return err
	}
	defer pool.Close()
	h, err := newHandler(pool, passwords, cfg.Analysts, log)
	if err != nil {
		return err
	}
	return serve(ctx, cfg, h, log)
}

// arguments returns the command-line arguments with which the engine opens every connection.
func (c Config) arguments() []string {
	args := []string{
		"--path=" + filepath.Join(c.Data, storeName),
		"--implicit_select=0", // "1 + 1" alone is a syntax error, as on a server
		"--final=1",           // clients read only the latest version of a key, unless they set final to 0
	}
	// The engine reads the file of users only if it also gets a configuration file. That file need not exist.
	args = append(args, "--users_config="+filepath.Join(c.Data, runName, usersName),
		"--config-file="+cmp.Or(c.File, filepath.Join(c.Data, runName, "none.xml")))
	return args
}

// limits returns the arguments that limit the memory and the time of an administrator's queries.
func (c Config) limits() []string {
	var args []string
	if c.MaxMemory > 0 {
		args = append(args, "--max_memory_usage="+strconv.FormatInt(c.MaxMemory, 10))
	}
	if c.MaxTime > 0 {
		args = append(args, "--max_execution_time="+strconv.FormatFloat(c.MaxTime.Seconds(), 'f', 3, 64))
	}
	return args
}

// serve serves h on loopback, and at cfg.Listen for analysts, until ctx ends. Queries then have stopTime to finish.
func serve(ctx context.Context, cfg Config, h *handler, log *slog.Logger) error {
	listener, err := listen(ctx, cfg.Port)
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	port := filepath.Join(cfg.Data, runName, portName)
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
	served, servers := make(chan error, 2), []*http.Server{server}
	if cfg.Listen.Address != "" {
		further, err := cfg.Listen.open(ctx)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		analysts := &http.Server{
			Handler: h.forAnalysts(), ReadHeaderTimeout: server.ReadHeaderTimeout, MaxHeaderBytes: server.MaxHeaderBytes,
			BaseContext: server.BaseContext, ErrorLog: server.ErrorLog,
		}
		servers = append(servers, analysts)
		go func() { served <- analysts.Serve(further) }()
		log.Info("engine listens for analysts", "address", further.Addr().String())
	}
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
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if err := stopAll(shutdown, servers); errors.Is(err, context.DeadlineExceeded) {
		log.Warn("engine stops with queries running; they are cancelled")
		kill()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if err := stopAll(last, servers); err != nil {
			return fmt.Errorf("stopping the engine: %w", err)
		}
	}
	return nil
}

// stopAll shuts down all servers. It waits for their requests in flight until ctx ends.
func stopAll(ctx context.Context, servers []*http.Server) (err error) {
	for _, s := range servers {
		err = errors.Join(err, s.Shutdown(ctx))
	}
	return err
}

// listen listens on the preferred port of 127.0.0.1, or on any free port if that port is in use.
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
