package columnar_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"vayu/internal/columnar"
	"vayu/internal/config"
)

// silent is an address that takes connections, of which it tells, and says nothing.
func silent(t *testing.T) (address string, came <-chan struct{}) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	told := make(chan struct{}, 100)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
			told <- struct{}{}
		}
	}()
	return listener.Addr().String(), told
}

// TestAHostThatSaysNothingIsLeft for the next one, while somebody still waits.
func TestAHostThatSaysNothingIsLeft(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"clickhouse", "http"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			first, _ := silent(t)
			second, came := silent(t)
			db, err := columnar.Open(columnar.Config{DSN: config.DSN(protocol + "://default@" + first + "," + second + "/"), Connections: 1}, slog.New(slog.DiscardHandler), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Conn().Close()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			answer := make(chan error, 1)
			go func() { answer <- db.Conn().Ping(ctx) }()
			select {
			case <-came:
			case <-ctx.Done():
				t.Error("nobody waits any more, and the second host was not asked")
			}
			if err := <-answer; err == nil {
				t.Error("hosts that say nothing answer")
			}
		})
	}
}

// TestAGreetingEndsWithWhoWaits, and what is said later is not bounded by that.
func TestAGreetingEndsWithWhoWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		client, server := net.Pipe()
		defer server.Close()
		g := columnar.NewGreeting(ctx, client)
		defer g.Close()
		read := func(deadline time.Duration) time.Duration {
			began := time.Now()
			if err := g.SetDeadline(began.Add(deadline)); err != nil {
				t.Fatal(err)
			}
			if _, err := g.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal(err)
			}
			return time.Since(began)
		}
		if took := read(30 * time.Second); took != time.Second {
			t.Errorf("the greeting took %v, want the second that somebody waits", took)
		}
		if err := g.SetDeadline(time.Time{}); err != nil { // it is over
			t.Fatal(err)
		}
		if took := read(30 * time.Second); took != 30*time.Second {
			t.Errorf("an answer was waited for %v, want 30s", took)
		}
	})
}
