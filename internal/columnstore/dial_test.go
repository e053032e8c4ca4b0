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

// silent is a listener that accepts connections, reports each, and sends nothing.
func silent(t *testing.T, secure *tls.Config) (address string, came <-chan struct{}) {
	t.Helper()
	accepted := make(chan struct{}, 100)
	return fixture.Listen(t, secure, func(conn net.Conn) {
		defer conn.Close()
		if c, ok := conn.(*tls.Conn); ok && c.HandshakeContext(t.Context()) != nil {
			return
		}
		accepted <- struct{}{}
		_, _ = io.Copy(io.Discard, conn)
	}).Addr().String(), accepted
}

// The native protocol uses TLS, with a trusted certificate only.
func TestNativeProtocolOverTLS(t *testing.T) {
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
				t.Error("data was sent to a server with an untrusted certificate")
			}
		case err := <-answer:
			if believed || !strings.Contains(err.Error(), "x509") {
				t.Errorf("believed: %t, got %v", believed, err)
			}
		}
		cancel()
	}
}

// The next host is tried within the caller's timeout.
func TestSilentHostIsSkipped(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"clickhouse", "http"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			first, _ := silent(t, nil)
			second, came := silent(t, nil)
			db := server(t, columnstore.Config{DSN: config.DSN(protocol + "://default@" + first + "," + second + "/")})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			answer := make(chan error, 1)
			go func() { answer <- db.Conn().Ping(ctx) }()
			select {
			case <-came:
				cancel()
			case <-ctx.Done():
				t.Error("the caller's context ended before the second host was tried")
			}
			if err := <-answer; err == nil {
				t.Error("silent hosts answered")
			}
		})
	}
}

// The handshake ends with the caller's deadline; later deadlines are not limited.
func TestHandshakeEndsWithCallersDeadline(t *testing.T) {
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
			t.Errorf("the handshake took %v, want the caller's second", took)
		}
		if err := g.SetDeadline(time.Time{}); err != nil { // the handshake is over
			t.Fatal(err)
		}
		if took := read(30 * time.Second); took != 30*time.Second {
			t.Errorf("the wait for an answer took %v, want 30s", took)
		}
	})
}
