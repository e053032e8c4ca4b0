package chaos

import (
	"context"
	"errors"
	"io"
	"testing"
)

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
	if err := p.Stop(t.Context()); err != nil || p.Alive() {
		t.Errorf("it is still running: %v", err)
	}
}
