package sender

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// piped returns a sender whose connections are pipes to handle. It runs in a synctest
// bubble, with fake time.
func piped(t *testing.T, handle func(net.Conn)) *Sender {
	t.Helper()
	s := New(Config{})
	var receivers sync.WaitGroup
	s.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		receivers.Go(func() {
			defer far.Close()
			handle(far)
		})
		return fastCloseConn{near}, nil
	}
	t.Cleanup(func() {
		s.Close()
		receivers.Wait()
	})
	return s
}

// over wraps a handler in TLS.
func over(config *tls.Config, handle func(net.Conn)) func(net.Conn) {
	return func(conn net.Conn) { handle(tls.Server(conn, config)) }
}

// silent reads and never replies.
func silent(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// dripping reads a request, writes head, and then one byte a second.
func dripping(head, text string) func(net.Conn) {
	return func(conn net.Conn) {
		if readRequest(bufio.NewReader(conn)) != nil {
			return
		}
		_, err := io.WriteString(conn, head)
		for i := 0; err == nil; i++ {
			time.Sleep(time.Second)
			_, err = io.WriteString(conn, text[i%len(text):i%len(text)+1])
		}
	}
}

// late replies after a delay.
func late(wait time.Duration, text string) func(net.Conn) {
	return func(conn net.Conn) {
		if readRequest(bufio.NewReader(conn)) == nil {
			time.Sleep(wait)
			_, _ = io.WriteString(conn, text)
		}
	}
}

func TestAttemptsTimeOut(t *testing.T) {
	t.Parallel()
	ca := fixture.NewAuthority(t)
	config := tlsConfig(ca.Server())
	config.SessionTicketsDisabled = true // a pipe has no buffer, and nothing reads while tickets are sent
	const ok = "HTTP/1.1 200 OK\r\n"
	for name, c := range map[string]struct {
		handle func(net.Conn)
		secure bool
		want   Result
	}{
		"stalls in TLS": {silent, true, Result{Stage: schema.StageTLS, Error: "the TLS handshake was not finished within 5s", Slow: true}},
		"takes nothing": {
			over(config, func(conn net.Conn) { _ = conn.(*tls.Conn).Handshake(); time.Sleep(time.Minute) }), true,
			Result{Stage: schema.StageWrite, Error: "the receiver did not read the request within 5s", Slow: true},
		},
		"never answers":       {over(config, silent), true, Result{Stage: schema.StageWait, Error: "the receiver did not answer within 5s", Slow: true}},
		"answers after 6 s":   {over(config, late(6*time.Second, fine)), true, Result{Stage: schema.StageWait, Error: "the receiver did not answer within 5s", Slow: true, Duration: 5*time.Second + closeTimeout}},
		"drips its header":    {dripping("", ok), false, Result{Stage: schema.StageWait, Error: "the receiver did not answer within 5s", Slow: true}},
		"drips 1xx":           {dripping("", "HTTP/1.1 100 Continue\r\n\r\n"), false, Result{Stage: schema.StageWait, Error: "the receiver did not answer within 5s", Slow: true}},
		"answers after 4 s":   {over(config, late(4*time.Second, fine)), true, Result{Stage: schema.StageStatus, Status: 200, Body: []byte("ok"), Duration: 4 * time.Second}},
		"drips its body":      {dripping(ok+"\r\nab", "c"), false, Result{Stage: schema.StageStatus, Status: 200, Body: []byte("ab"), Duration: grace}},
		"drips a long body":   {over(config, dripping(ok+"Content-Length: 1000\r\n\r\nab", "c")), true, Result{Stage: schema.StageStatus, Status: 200, Body: []byte("ab"), Duration: grace + closeTimeout}},
		"never ends its body": {late(0, ok+"Content-Length: 9\r\n\r\nab"), false, Result{Stage: schema.StageStatus, Status: 200, Body: []byte("ab")}},
		"is late with a body that drips": {
			late(4800*time.Millisecond, ok+"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"), false,
			Result{Stage: schema.StageStatus, Status: 200, Body: []byte("ab"), Duration: 4800 * time.Millisecond},
		},
		"drips the body of an error": {
			dripping("HTTP/1.1 503 Oh\r\n\r\nab", "c"), false,
			Result{Stage: schema.StageStatus, Status: 503, Body: []byte("ab"), Duration: grace, Error: "the receiver answered 503 Service Unavailable"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := piped(t, c.handle)
				s.transport.TLSClientConfig.RootCAs = ca.Pool()
				url := "http://127.0.0.1/in"
				if c.secure {
					url = "https://127.0.0.1/in"
				}
				p := testPost(url)
				p.Body = []byte(strings.Repeat("x", 100<<10)) // more than net/http's buffer: it is written for real
				c.want.SentAt = time.Now()
				if c.want.Slow && c.want.Duration == 0 {
					c.want.Duration = 5 * time.Second
				}
				compare(t, s.Send(t.Context(), p), c.want)
			})
		})
	}
}

func compare(t *testing.T, got, want Result) {
	t.Helper()
	if !got.SentAt.Equal(want.SentAt) || got.Duration != want.Duration {
		t.Errorf("sent at %v for %v, want %v for %v", got.SentAt, got.Duration, want.SentAt, want.Duration)
	}
	switch {
	case got.Stage != want.Stage:
		t.Errorf("Stage = %v, want %v", got.Stage, want.Stage)
	case got.Status != want.Status:
		t.Errorf("Status = %v, want %v", got.Status, want.Status)
	case got.Error != want.Error:
		t.Errorf("Error = %v, want %v", got.Error, want.Error)
	case !bytes.Equal(got.Body, want.Body):
		t.Errorf("Body = %v, want %v", got.Body, want.Body)
	case got.Slow != want.Slow:
		t.Errorf("Slow = %v, want %v", got.Slow, want.Slow)
	}
}

func TestConnectionsEndPromptly(t *testing.T) {
	t.Parallel()
	s := newSender(t, Config{})
	conn, err := s.transport.DialContext(t.Context(), "tcp", listen(t, "127.0.0.1:0", nil, silent))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, ok := conn.(fastCloseConn); !ok {
		t.Errorf("a connection is a %T, want one that the end of TLS cannot hold", conn)
	}
}

func TestAttemptsEndWithTheService(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := piped(t, silent)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		compare(t, s.Send(ctx, testPost("http://127.0.0.1/in")), Result{
			SentAt: start, Duration: time.Second, Stage: schema.StageWait, Error: textStopped,
		})
	})
}
