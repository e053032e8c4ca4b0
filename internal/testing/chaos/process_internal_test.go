package chaos

import (
	"context"
	"errors"
	"io"
	"testing"
)

func TestAProgramThatSaysNothingEndsWithItsContext(t *testing.T) {
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
		if p.PID() == 0 { // nobody who asks waits for the first word
			t.Error("it runs and has no number")
		}
		end()
	}()
	if err := p.Start(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
	if err := p.Stop(t.Context()); err != nil || p.Alive() {
		t.Errorf("it still runs: %v", err)
	}
}
