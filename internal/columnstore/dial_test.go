package columnstore_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vayu/internal/columnstore"
	"vayu/internal/config"
	"vayu/internal/testing/fixture"
)

// silent is an address that takes connections, of which it tells, and says nothing.
func silent(t *testing.T, secure *tls.Config) (address string, came <-chan struct{}) {
	t.Helper()
	told := make(chan struct{}, 100)
	return fixture.Port(t, secure, func(conn net.Conn) {
		defer conn.Close()
		if c, ok := conn.(*tls.Conn); ok && c.HandshakeContext(t.Context()) != nil {
			return
		}
		told <- struct{}{}
		_, _ = io.Copy(io.Discard, conn)
	}).Addr().String(), told
}

// TestTheNativeProtocolGoesOverTLS, and to a server that it believes.
func TestTheNativeProtocolGoesOverTLS(t *testing.T) {
	t.Parallel()
	authority := fixture.NewAuthority(t)
	address, came := silent(t, &tls.Config{Certificates: []tls.Certificate{authority.Server()}, MinVersion: tls.VersionTLS12})
	for ca, believed := range map[string]bool{authority.CA(): true, fixture.NewAuthority(t).CA(): false} {
		db := server(t, columnstore.Config{DSN: config.DSN("clickhouse://default@" + address + "/?secure=true"), CA: ca})
		ctx, cancel := context.WithCancel(t.Context())
		answer := make(chan error, 1)
		go func() { answer <- db.Conn().Ping(ctx) }()
		select {
		case <-came:
			if !believed {
				t.Error("a server was spoken to whose certificate is not believed")
			}
		case err := <-answer:
			if believed || !strings.Contains(err.Error(), "x509") {
				t.Errorf("believed: %t, got %v", believed, err)
			}
		}
		cancel()
	}
}

// TestAHostThatSaysNothingIsLeft for the next one, while somebody still waits.
func TestAHostThatSaysNothingIsLeft(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"clickhouse", "http"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			first, _ := silent(t, nil)
			second, came := silent(t, nil)
			db := server(t, columnstore.Config{DSN: config.DSN(protocol + "://default@" + first + "," + second + "/")})
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
		g := columnstore.NewHandshakeConn(ctx, client)
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
