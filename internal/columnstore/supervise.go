package columnstore

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"vayu/internal/columnstore/embedded"
	"vayu/internal/sleep"
)

const (
	// backoffFirst is the pause before the first restart. It is short, so that an engine that dies once is back soon.
	backoffFirst = 100 * time.Millisecond
	// backoffLast limits the pause, which doubles with each restart.
	backoffLast = 5 * time.Second
	// healthyLife is how long an engine must run so that the pause after its end is backoffFirst again.
	healthyLife = time.Minute
)

// supervise keeps an engine running until ctx ends. With Config.Share it may use the engine of another process.
func (db *DB) supervise(ctx context.Context) error {
	for failures := 0; ; failures++ {
		began := time.Now()
		err := db.once(ctx)
		db.metrics.up.Set(0)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // stopped as requested
		}
		if permanent, ok := errors.AsType[*stoppedError](err); ok {
			return permanent.reason
		}
		db.endpoint.lose(err)
		if time.Since(began) > healthyLife || errors.Is(err, errHeld) {
			failures = 0
		}
		pause := sleep.Backoff(failures, backoffFirst, backoffLast)
		if errors.Is(err, errHeld) {
			db.log.Info("waiting for another process with the data directory", "error", err, "pause", pause)
		} else {
			db.log.Error("the ClickHouse engine ended; restarting it", "error", err, "after", time.Since(began).Round(time.Millisecond), "pause", pause)
		}
		if !sleep.For(ctx, pause) {
			return nil
		}
		db.metrics.restarts.Inc()
	}
}

// once starts or finds one engine, and supervises the engine until its end.
func (db *DB) once(ctx context.Context) error {
	if db.cfg.Share {
		if holder, ok := embedded.FindHolder(db.cfg.Data); ok {
			db.guest = db.cfg.Guest
			return db.follow(ctx, holder)
		}
		if db.guest {
			return fmt.Errorf("%w: the service with the engine has stopped", errHeld)
		}
	}
	return db.child(ctx)
}

// errHeld means that this process cannot run an engine now: another process has the data directory, or db.guest is set.
var errHeld = errors.New("another process has the data directory")

// follow uses the engine of another process, until that engine ends.
func (db *DB) follow(ctx context.Context, holder embedded.Holder) error {
	if holder.PID == 0 {
		return fmt.Errorf("%w: it has only just taken the data directory", errHeld)
	}
	address, password, err := embedded.Access(db.cfg.Data)
	if err == nil {
		err = ping(ctx, address, db.health.timeout)
	}
	if err == nil {
		err = db.checkHolder(holder)
	}
	if err != nil {
		return fmt.Errorf("%w: using the engine of %s: %w", errHeld, holder, err)
	}
	db.endpoint.serve(access{address: address, password: password})
	db.metrics.up.Set(1)
	db.log.Info("using the running ClickHouse engine", "holder", holder.String(), "address", address)
	return db.watch(ctx, address, nil, func() error { return db.checkHolder(holder) })
}

// checkHolder returns an error if `holder` has released its lock of the data directory. Another program may then use
// the address of the holder's engine.
func (db *DB) checkHolder(holder embedded.Holder) error {
	if now, ok := embedded.FindHolder(db.cfg.Data); !ok || now.PID != holder.PID || !now.Started.Equal(holder.Started) {
		return fmt.Errorf("%s has released the data directory", holder)
	}
	return nil
}

// child starts the engine as a child process and supervises it until its end.
func (db *DB) child(ctx context.Context) error {
	command := db.cfg.Command
	if len(command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("finding this executable: %w", err)
		}
		command = []string{self, "engine"}
	}
	cmd := exec.Command(command[0], command[1:]...) //nolint:gosec,noctx // the end of stdin stops the engine, so that queries can finish
	cmd.Env = append(environment(db.cfg.Data), db.cfg.Environment...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches the parent only, which stops the child
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("starting the engine: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("starting the engine: %w", err)
	}
	cmd.Stderr = &logForwarder{log: db.log.With("part", "engine")}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the engine: %w", err)
	}
	p := &process{cmd: cmd, stdin: stdin, ended: make(chan struct{})}
	reports := make(chan embedded.Report, 2)
	go p.read(stdout, reports)
	defer p.stop()

	if err := json.NewEncoder(stdin).Encode(db.childConfig()); err != nil {
		return fmt.Errorf("configuring the engine: %w", err)
	}
	var report embedded.Report
	select {
	case report = <-reports:
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(startTimeout):
		return fmt.Errorf("the engine did not start within %s", startTimeout)
	}
	if report.Error != "" {
		return db.startError(report)
	}
	if report.Address == "" {
		return fmt.Errorf("the engine ended at its start: %w", p.wait())
	}
	_, password, err := embedded.Access(db.cfg.Data)
	if err != nil {
		return err
	}
	db.endpoint.serve(access{address: report.Address, password: password, own: true})
	db.metrics.up.Set(1)
	db.log.Info("the ClickHouse engine is up", "address", report.Address, "pid", cmd.Process.Pid)
	go db.logParts(ctx)
	err = db.watch(ctx, report.Address, p, func() error { return nil })
	if errors.Is(err, errHung) {
		_ = cmd.Process.Kill() // a hung engine may ignore the end of its stdin
	}
	return err
}

// passedVariables are the variables that the engine gets from this process. Other variables may contain secrets.
var passedVariables = []string{"TZ", "LANG", "LC_ALL", "GOMAXPROCS", "GOTRACEBACK", "GOCOVERDIR"}

// environment returns the environment variables of an engine's process whose data directory is `data`.
func environment(data string) []string {
	env := []string{"TMPDIR=" + embedded.TemporaryFolder(data)}
	for _, name := range passedVariables {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// startError returns the error of an engine that did not start. The error ends Run if the library is missing or unsafe,
// or if another service has locked the data directory and Config.Share is not set. If a command has locked the
// directory, Run retries until the command ends. After any other error, Run restarts the engine.
func (db *DB) startError(report embedded.Report) error {
	err := errors.New(report.Error)
	switch {
	case report.Missing, report.Held && !report.Command && !db.cfg.Share:
		return &stoppedError{err}
	case report.Held:
		return fmt.Errorf("%w: %w", errHeld, err)
	}
	return err
}

func (db *DB) childConfig() embedded.Config {
	return embedded.Config{
		Data: db.cfg.Data, Library: db.cfg.Library, File: db.cfg.File, Port: db.cfg.Port,
		MaxMemory: int64(db.cfg.MaxMemory), MaxTime: db.cfg.MaxTime, MaxQueries: 2 * db.cfg.Connections,
		Owner:  fmt.Sprintf("%s, pid %d", strings.Join(os.Args, " "), os.Getpid()),
		Parent: os.Getpid(), Command: db.cfg.Share, Analysts: db.cfg.Analysts.limits(db.cfg.Readable, db.cfg.Private),
		Listen: db.cfg.Listen.child(db.cfg.Share),
	}
}

// startTimeout limits a start of the engine. It is long, because the engine first checks its stored data.
const startTimeout = 2 * time.Minute

// health has the limits beyond which an engine counts as hung.
type health struct {
	every     time.Duration // between two pings
	timeout   time.Duration // for one answer
	maxMissed int           // consecutive pings without an answer
}

// defaultHealth is generous. On two processors with sixty runnable processes, a healthy engine missed two pings
// with a timeout of 9 s. A restart ends all running queries, so only a minute without an answer counts as a hang.
var defaultHealth = health{every: 2 * time.Second, timeout: 10 * time.Second, maxMissed: 6}

// errHung means that the engine runs but does not answer.
var errHung = errors.New("the engine does not answer")

// watch pings the engine until the engine ends or hangs, `same` returns an error, or ctx ends. A child counts as hung
// after health.maxMissed failed pings in a row, and an engine of another process (p is nil) after one.
func (db *DB) watch(ctx context.Context, address string, p *process, same func() error) error {
	var gone chan struct{} // nil for an engine of another process
	lostLimit := 1
	if p != nil {
		gone, lostLimit = p.ended, db.health.maxMissed
	}
	tick := time.NewTicker(db.health.every)
	defer tick.Stop()
	for lost := 0; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-gone:
			return fmt.Errorf("the engine's process ended: %w", p.wait())
		case <-tick.C:
		}
		if err := same(); err != nil {
			return err
		}
		if err := ping(ctx, address, db.health.timeout); err == nil {
			lost = 0
		} else if lost++; lost >= lostLimit {
			return fmt.Errorf("%w: %w", errHung, err)
		}
	}
}

// ping requests /ping, for which the engine runs SELECT 1. It returns an error unless the reply has status 200 in time.
func ping(ctx context.Context, address string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/ping", nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	reply, err := client.Do(r)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(reply.Body, 1<<10))
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("ping: %s", reply.Status)
	}
	return nil
}

// process is a started child process, which runs the embedded engine.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	ended chan struct{} // closed when the process has ended
	err   error         // how the process ended; valid once ended is closed
}

// read parses the reports in the child's stdout, and sends them to `reports`. When stdout ends, it waits for the child.
func (p *process) read(stdout io.Reader, reports chan<- embedded.Report) {
	defer close(p.ended)
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		var report embedded.Report
		if json.Unmarshal(lines.Bytes(), &report) == nil {
			select {
			case reports <- report:
			default:
			}
		}
	}
	p.err = p.cmd.Wait()
	close(reports)
}

// wait waits for the end of the process, and returns an error that describes the end.
func (p *process) wait() error {
	<-p.ended
	if p.err == nil {
		return errors.New("it stopped by itself")
	}
	return p.err
}

// killAfter is how long a child may take to stop. The engine needs up to 8 s: 4 s for running queries, and 4 s for
// their cancellation.
const killAfter = 12 * time.Second

// stop ends the child by closing its stdin, and kills the child after killAfter.
func (p *process) stop() {
	_ = p.stdin.Close()
	select {
	case <-p.ended:
	case <-time.After(killAfter):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}
