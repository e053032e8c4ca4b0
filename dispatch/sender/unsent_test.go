package sender

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"vayu/internal/testing/fixture"
)

var errSecret = errors.New("the secret is not known now")

// recordingReceiver writes before as an unsolicited reply, and then records everything
// that it receives.
func recordingReceiver(got *recorder, before string) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = io.WriteString(conn, before)
		text, _ := io.ReadAll(conn)
		got.add(string(text))
	}
}

func TestUnsignedRequestIsNotSent(t *testing.T) {
	t.Parallel()
	ca := fixture.NewAuthority(t)
	for name, c := range map[string]struct {
		secure bool
		before string // an unsolicited reply of the receiver
	}{
		"plain":                {},
		"TLS":                  {secure: true},
		"an answer to nothing": {before: fine},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got recorder
			config, url := tlsConfig(ca.Server()), "https://"
			if !c.secure {
				config, url = nil, "http://"
			}
			done := make(chan struct{})
			url += listen(t, "127.0.0.1:0", config, func(conn net.Conn) {
				defer close(done)
				recordingReceiver(&got, c.before)(conn)
			})
			s := newSender(t, Config{Roots: ca.Pool()})
			p := testPost(url)
			p.Header.Set("X-Long", strings.Repeat("x", 64<<10)) // more than net/http's buffer
			p.Sign = func(time.Time) (string, error) { return "", errSecret }
			r := s.Send(t.Context(), p)
			<-done
			switch {
			case !r.Unsent:
				t.Error("r.Unsent is false")
			case r.OK():
				t.Error("r.OK() is true")
			case r.Slow:
				t.Error("r.Slow is true")
			case r.SentAt.IsZero():
				t.Error("r.SentAt.IsZero() is true")
			case strings.Join(got.texts, "") != "":
				t.Errorf("strings.Join(texts, \"\") = %q, want none", strings.Join(got.texts, ""))
			}
		})
	}
}

// lingering is a connection that accepts writes until Close returns, which takes a
// second.
type lingering struct {
	net.Conn
	got    *recorder
	closed *atomic.Bool
}

func (c lingering) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if n > 0 {
		c.got.add(string(p[:n]))
	}
	return n, err
}

func (c lingering) Close() error {
	if !c.closed.Swap(true) {
		time.Sleep(time.Second) // of the bubble
	}
	return c.Conn.Close()
}

// Cancelling the context is not enough, because a write in progress does not check it.
func TestCancelledAttemptWritesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got recorder
		s := piped(t, nil)
		s.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go silent(far)
			return lingering{near, &got, new(atomic.Bool)}, nil
		}
		p := testPost("http://127.0.0.1/in")
		p.Sign = func(time.Time) (string, error) { return "", errSecret }
		if r := s.Send(t.Context(), p); !r.Unsent || len(got.texts) != 0 {
			t.Errorf("got %+v, and %q was written", r, got.texts)
		}
	})
}

// A pooled connection was closed meanwhile, and the signature for the next one fails.
// Still nothing is written.
func TestFailedSecondSignatureIsNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got recorder
		s := piped(t, nil)
		var dials atomic.Int64
		s.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go receive(far, &got)
			if dials.Add(1) == 1 {
				return &stale{Conn: near, fails: 2}, nil
			}
			return near, nil
		}
		p := testPost("http://127.0.0.1/in")
		signed := 0
		p.Sign = func(time.Time) (string, error) {
			if signed++; signed > 2 {
				return "", errSecret
			}
			return strconv.Itoa(signed), nil
		}
		first := s.Send(t.Context(), p)
		second := s.Send(t.Context(), p)
		switch {
		case !first.OK():
			t.Error("first.OK() is false")
		case first.Unsent:
			t.Error("first.Unsent is true")
		case !second.Unsent:
			t.Error("second.Unsent is false")
		case dials.Load() != 2:
			t.Errorf("dials.Load() = %v, want 2", dials.Load())
		case len(got.texts) != 1:
			t.Errorf("len(texts) = %v, want 1", len(got.texts))
		}
	})
}

// A connection whose request was not signed is not reused.
func TestConnectionWithoutSignatureIsNotReused(t *testing.T) {
	t.Parallel()
	s := newSender(t, Config{Control: func(string, string, syscall.RawConn) error { return nil }})
	p := testPost("http://" + listen(t, "127.0.0.1:0", nil, answering(fine)))
	for i, err := range []error{nil, errSecret, nil} {
		p.Sign = func(time.Time) (string, error) { return "t", err }
		if r := s.Send(t.Context(), p); r.Unsent != (err != nil) || r.OK() == r.Unsent {
			t.Errorf("attempt %d: %+v", i, r)
		}
	}
}
