package link_test

import (
	"context"
	"io"
	"net"
	"testing"

	"vayu/internal/testing/chaos/link"
	"vayu/internal/testing/fixture"
)

// echo sends back what it receives.
func echo(t *testing.T) string {
	t.Helper()
	return fixture.Listen(t, nil, func(c net.Conn) {
		_, _ = io.Copy(c, c)
		_ = c.Close()
	}).Addr().String()
}

// echoed sends a text and reads the echo; an error when the connection is cut.
func echoed(c net.Conn, text string) (string, error) {
	if _, err := io.WriteString(c, text); err != nil {
		return "", err
	}
	back := make([]byte, len(text))
	_, err := io.ReadFull(c, back)
	return string(back), err
}

func TestCutAndRestore(t *testing.T) {
	t.Parallel()
	l, err := link.New(t.Context(), "127.0.0.1:0", echo(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Run(ctx)
	}()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", l.Address())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	open := dial()
	if got, err := echoed(open, "hello"); got != "hello" || err != nil {
		t.Fatalf("got %q, %v through an open link", got, err)
	}
	l.Cut()
	if got, err := echoed(open, "hello"); err == nil {
		t.Errorf("got %q through a connection that was cut", got)
	}
	if late, err := net.Dial("tcp", l.Address()); err == nil { // a reset may come before the dial has returned
		if got, err := echoed(late, "hello"); err == nil {
			t.Errorf("got %q through a link that is cut", got)
		}
		_ = late.Close()
	}
	l.Restore()
	l.SetTarget(echo(t))
	last := dial()
	if got, err := echoed(last, "again"); got != "again" || err != nil {
		t.Errorf("got %q, %v through a restored link", got, err)
	}
	end()
	<-done // with a connection open
	if _, err := echoed(last, "late"); err == nil {
		t.Error("a connection is open after its link ended")
	}
}
