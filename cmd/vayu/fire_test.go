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

// firing is a running `vayu events fire`.
type firing struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  *transcript
	done chan struct{}
}

// fire commits events beside the service.
func (s *serving) fire(args ...string) *firing {
	s.Helper()
	all := append([]string{"events", "fire", "--data", s.data, "--account", "default", "--type", "payment.succeeded"}, args...)
	f := &firing{t: s.T, cmd: exec.Command(binary(s.T), all...), out: &transcript{}, done: make(chan struct{})}
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

// interrupt ends it as Ctrl-C does.
func (f *firing) interrupt() {
	f.t.Helper()
	_ = f.cmd.Process.Signal(os.Interrupt)
	select {
	case <-f.done:
	case <-time.After(patience):
		f.t.Fatal("vayu events fire does not end")
	}
}

var committed = regexp.MustCompile(`committed (\d+) events`)

// committed is how many events it says were committed; it has ended.
func (f *firing) committed() int {
	f.t.Helper()
	<-f.done
	said := committed.FindStringSubmatch(f.out.String())
	if said == nil {
		f.t.Fatalf("vayu events fire does not say what it committed:\n%s", f.out)
	}
	n, err := strconv.Atoi(said[1])
	if err != nil || n == 0 {
		f.t.Fatalf("vayu events fire committed %q", said[1])
	}
	return n
}
