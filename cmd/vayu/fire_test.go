//go:build integration

package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// fireProcess is a running `vayu events fire`.
type fireProcess struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  *transcript
	done chan struct{}
}

// fire commits events while the service runs.
func (s *serverProcess) fire(args ...string) *fireProcess {
	s.Helper()
	all := append([]string{"events", "fire", "--data", s.data, "--account", "default", "--type", "payment.succeeded"}, args...)
	f := &fireProcess{t: s.T, cmd: exec.Command(binary(s.T), all...), out: &transcript{}, done: make(chan struct{})}
	f.cmd.Dir = s.TempDir()
	f.cmd.Stdout, f.cmd.Stderr = f.out, f.out
	if err := f.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	go func() {
		defer close(f.done)
		_ = f.cmd.Wait()
	}()
	s.Cleanup(f.interrupt)
	return f
}

// interrupt ends the command as Ctrl-C does.
func (f *fireProcess) interrupt() {
	f.t.Helper()
	_ = f.cmd.Process.Signal(os.Interrupt)
	select {
	case <-f.done:
	case <-time.After(patience):
		f.t.Fatal("vayu events fire does not end")
	}
}

var committed = regexp.MustCompile(`committed (\d+) events`)

// committed returns the number of committed events after the command has ended.
func (f *fireProcess) committed() int {
	f.t.Helper()
	<-f.done
	match := committed.FindStringSubmatch(f.out.String())
	if match == nil {
		f.t.Fatalf("vayu events fire does not print the number of committed events:\n%s", f.out)
	}
	n, err := strconv.Atoi(match[1])
	if err != nil || n == 0 {
		f.t.Fatalf("vayu events fire committed %d, %v", n, err)
	}
	return n
}
