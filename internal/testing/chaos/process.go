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
	"time"
)

// endPatience is how long a process may take to end after SIGTERM: its drain delay and
// the 15 seconds that requests have, and what a busy machine adds.
const endPatience = 60 * time.Second

// Process is a program that can be started, killed, frozen and started again. What it
// says goes to NAME.log in the data directory.
type Process struct {
	Name string
	argv []string
	env  []string
	dir  string // of its log, and its working directory
	// talk is told the streams of each new start; nil for a program that reads nothing.
	talk func(in io.Writer, out io.Reader) error

	mu    sync.Mutex
	cmd   *exec.Cmd
	in    io.WriteCloser
	ended chan struct{} // closed when the present one has ended
}

// talkPatience is how long a program may take to say its first word: the engine opens
// its tables before.
const talkPatience = 60 * time.Second

// Start starts the program, and waits for its first word where it has one; a program
// that has not said it in time, or when ctx ends, is killed. It must not be running.
func (p *Process) Start(ctx context.Context) error {
	cmd, out, err := p.launch()
	if err != nil {
		return fmt.Errorf("starting %s: %w", p.Name, err)
	}
	in, ended := p.in, p.ended
	if p.talk != nil {
		ctx, cancel := context.WithTimeoutCause(ctx, talkPatience, errors.New("it says nothing"))
		late := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // which ends what it would say
		err = p.talk(in, out)
		if cause := context.Cause(ctx); !late() {
			if !errors.Is(cause, context.Canceled) { // else what it said when it was killed is no fault
				cause = errors.Join(cause, err)
			}
			err = cause
		}
		cancel()
	}
	go func() { // ends with the process, which every way out of here ends
		defer close(ended)
		_ = cmd.Wait()
	}()
	if err != nil {
		_ = cmd.Process.Kill()
		return fmt.Errorf("starting %s: %w", p.Name, err)
	}
	return nil
}

// launch starts the program and returns its standard output, for a program that talks.
func (p *Process) launch() (*exec.Cmd, io.Reader, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	log, err := os.OpenFile(filepath.Join(p.dir, p.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = log.Close() }()            // the child has its own
	cmd := exec.Command(p.argv[0], p.argv[1:]...) //nolint:gosec,noctx // our own program, which ends in its own way
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.SysProcAttr = p.dir, p.env, log, attributes()
	var in io.WriteCloser
	var out io.ReadCloser
	if p.talk == nil {
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

// present is what runs now, or ran last.
func (p *Process) present() (*exec.Cmd, chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd, p.ended
}

// PID is that of the process that was started last; 0 before the first.
func (p *Process) PID() int {
	cmd, _ := p.present()
	if cmd == nil {
		return 0
	}
	return cmd.Process.Pid
}

// Alive reports whether it runs.
func (p *Process) Alive() bool {
	cmd, ended := p.present()
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

// Signal sends it a signal: SIGSTOP freezes it, and SIGCONT ends that.
func (p *Process) Signal(s syscall.Signal) error {
	cmd, _ := p.present()
	if cmd == nil {
		return fmt.Errorf("%s was never started", p.Name)
	}
	if err := cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("%s to %s: %w", s, p.Name, err)
	}
	return nil
}

// Kill ends it at once, as kill -9 does, and waits until it is gone.
func (p *Process) Kill() error {
	if err := p.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	_, ended := p.present()
	<-ended
	return nil
}

// Stop asks it to end and waits for that; one that does not within a minute, or when ctx
// ends, is killed, and that is an error.
func (p *Process) Stop(ctx context.Context) error {
	if !p.Alive() {
		return nil
	}
	_ = p.Signal(syscall.SIGCONT) // a frozen one hears nothing
	if err := p.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, endPatience)
	defer cancel()
	_, ended := p.present()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("%s does not end when asked to", p.Name), p.Kill())
	}
}
