package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// stopTimeout limits the time that a process takes to end after SIGTERM: its drain delay, 15
// seconds for requests, and some for a busy machine.
const stopTimeout = 60 * time.Second

// Process is a program that can be started, killed, paused and restarted. Its output goes to
// NAME.log in the data directory.
type Process struct {
	Name string
	argv []string
	env  []string
	dir  string // of its log, and its working directory
	// handshake uses the streams of each new start; nil for a program without input.
	handshake func(in io.Writer, out io.Reader) error

	mu    sync.Mutex
	cmd   *exec.Cmd
	in    io.WriteCloser
	ended chan struct{} // closed when the current one has ended
}

// handshakeTimeout limits the wait for the first output of a program: the engine first opens its
// tables.
const handshakeTimeout = 60 * time.Second

// Start starts the program, and waits for the handshake if there is one. It kills the program if
// the handshake times out or ctx ends. The program must not be running.
func (p *Process) Start(ctx context.Context) error {
	cmd, out, err := p.launch()
	if err != nil {
		return fmt.Errorf("starting %s: %w", p.Name, err)
	}
	in, ended := p.in, p.ended
	if p.handshake != nil {
		ctx, cancel := context.WithTimeoutCause(ctx, handshakeTimeout, errors.New("no handshake"))
		late := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // ends its output
		err = p.handshake(in, out)
		if cause := context.Cause(ctx); !late() {
			if !errors.Is(cause, context.Canceled) { // an error that the kill caused is no fault of the program
				cause = errors.Join(cause, err)
			}
			err = cause
		}
		cancel()
	}
	go func() { // ends with the process, on every return
		defer close(ended)
		_ = cmd.Wait()
	}()
	if err != nil {
		_ = cmd.Process.Kill()
		return fmt.Errorf("starting %s: %w", p.Name, err)
	}
	return nil
}

// launch starts the program and returns its standard output for a handshake.
func (p *Process) launch() (*exec.Cmd, io.Reader, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	log, err := os.OpenFile(filepath.Join(p.dir, p.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = log.Close() }()            // the child has its own
	cmd := exec.Command(p.argv[0], p.argv[1:]...) //nolint:noctx // our own program, stopped by Stop
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.SysProcAttr = p.dir, p.env, log, attributes()
	var in io.WriteCloser
	var out io.ReadCloser
	if p.handshake == nil {
		cmd.Stdout = log
	} else if in, err = cmd.StdinPipe(); err == nil {
		out, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, nil, err
	}
	p.cmd, p.in, p.ended = cmd, in, make(chan struct{})
	return cmd, out, nil
}

// current returns the running process, or the last one.
func (p *Process) current() (*exec.Cmd, chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd, p.ended
}

// PID returns the id of the last started process; 0 before the first start.
func (p *Process) PID() int {
	cmd, _ := p.current()
	if cmd == nil {
		return 0
	}
	return cmd.Process.Pid
}

// Alive reports whether the process runs.
func (p *Process) Alive() bool {
	cmd, ended := p.current()
	if cmd == nil {
		return false
	}
	select {
	case <-ended:
		return false
	default:
		return true
	}
}

// Signal sends a signal: SIGSTOP pauses the process, SIGCONT resumes it.
func (p *Process) Signal(s syscall.Signal) error {
	cmd, _ := p.current()
	if cmd == nil {
		return fmt.Errorf("%s was never started", p.Name)
	}
	if err := cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("%s to %s: %w", s, p.Name, err)
	}
	return nil
}

// Kill kills the process, as kill -9 does, and waits until it has ended.
func (p *Process) Kill() error {
	if err := p.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	_, ended := p.current()
	<-ended
	return nil
}

// Stop sends SIGTERM and waits. If the process does not end within a minute, or when ctx ends, it
// is killed, and Stop fails.
func (p *Process) Stop(ctx context.Context) error {
	if !p.Alive() {
		return nil
	}
	_ = p.Signal(syscall.SIGCONT) // a paused process handles no signal
	if err := p.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	_, ended := p.current()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("%s did not end after SIGTERM", p.Name), p.Kill())
	}
}

func TestSilentProgramEndsWithContext(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	listening := make(chan struct{})
	p := &Process{
		Name: "silent", argv: []string{"sleep", "1000"}, dir: t.TempDir(),
		handshake: func(_ io.Writer, out io.Reader) error {
			close(listening)
			_, err := io.ReadFull(out, make([]byte, 1))
			return err
		},
	}
	go func() {
		<-listening
		if p.PID() == 0 { // PID does not wait for the handshake
			t.Error("it runs and has no process id")
		}
		end()
	}()
	if err := p.Start(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Errorf("stopping it: %v", err)
	}
	if p.Alive() {
		t.Error("it is still running")
	}
}
