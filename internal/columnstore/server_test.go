package columnstore_test

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/config"
	"vayu/internal/testing/fixture"
)

// behindTLS is a TLS proxy in front of a server.
func behindTLS(t *testing.T, server string, a *fixture.Authority) (address string) {
	t.Helper()
	secure := &tls.Config{Certificates: []tls.Certificate{a.Server()}, MinVersion: tls.VersionTLS12}
	return fixture.Listen(t, secure, func(client net.Conn) {
		defer client.Close()
		upstream, err := new(net.Dialer).DialContext(context.Background(), "tcp", server)
		if err != nil {
			return
		}
		defer upstream.Close()
		go func() { _, _ = io.Copy(upstream, client); _ = upstream.Close() }()
		_, _ = io.Copy(client, upstream)
	}).Addr().String()
}

// refusingAddress is an address that refuses connections.
func refusingAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// server opens the server of a configuration with a DSN.
func server(t *testing.T, c columnstore.Config) *columnstore.DB {
	t.Helper()
	c.Connections = 4
	db, err := columnstore.Open(c, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Conn().Close() })
	return db
}

// The first of its addresses refuses connections.
func TestServerOverTLS(t *testing.T) {
	t.Parallel()
	address, password := columnstoretest.Access(t)
	authority := fixture.NewAuthority(t)
	ca, proxy := authority.CA(), behindTLS(t, address, authority)
	for _, dsn := range []string{
		"https://default:" + password + "@" + refusingAddress(t) + "," + proxy + "/",
		"https://default:" + password + "@" + proxy + "/?secure=true&dial_timeout=5s",
	} {
		db := server(t, columnstore.Config{DSN: config.DSN(dsn), CA: ca})
		for range 6 { // several connections, each of which tries the addresses
			if _, err := db.Version(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The error names the certificate and the setting to change.
func TestUntrustedCertificate(t *testing.T) {
	t.Parallel()
	address, password := columnstoretest.Access(t)
	other := fixture.NewAuthority(t).CA()
	dsn := config.DSN("https://default:" + password + "@" + behindTLS(t, address, fixture.NewAuthority(t)) + "/")
	for _, ca := range []string{"", other} {
		var output fixture.Log
		db, err := columnstore.Open(columnstore.Config{DSN: dsn, CA: ca, Connections: 1}, slog.New(slog.NewTextHandler(&output, nil)), prometheus.NewRegistry())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- db.Ready(ctx) }()
		fixture.Eventually(t, "the log has the reason", func() bool { return strings.Contains(output.String(), "x509") })
		cancel()
		err = <-ended
		_ = db.Conn().Close()
		switch {
		case err == nil:
			t.Error("got no error")
		case !strings.Contains(err.Error(), "clickhouse-ca"):
			t.Errorf("err.Error() = %q, want %q in it", err.Error(), "clickhouse-ca")
		case !strings.Contains(err.Error(), "x509"):
			t.Errorf("err.Error() = %q, want %q in it", err.Error(), "x509")
		case strings.Contains(err.Error(), password):
			t.Errorf("err.Error() = %q, want no %q in it", err.Error(), password)
		}
	}
	for want, c := range map[string]columnstore.Config{
		"clickhouse-ca: the DSN has no TLS":                              {DSN: config.DSN("http://default@" + address + "/"), CA: other},
		`clickhouse-ca: "/dev/null" holds no certificate`:                {DSN: dsn, CA: os.DevNull},
		"clickhouse-ca: open /nowhere/ca.pem: no such file or directory": {DSN: dsn, CA: "/nowhere/ca.pem"},
	} {
		c.Connections = 1
		if _, err := columnstore.Open(c, slog.New(slog.DiscardHandler), nil); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), password) {
			t.Errorf("got %v, want that there is %s", err, want)
		}
	}
}

func TestUnencryptedHosts(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[config.DSN][]string{
		"":                                                nil,
		"clickhouse://u:p@ch1:9000,ch2/":                  {"ch1", "ch2"},
		"http://u:p@10.0.0.7:8123/":                       {"10.0.0.7"},
		"http://u:p@[2001:db8::1]:8123/":                  {"2001:db8::1"},
		"clickhouse://u:p@localhost:9000":                 nil,
		"clickhouse://u:p@127.0.0.1:9000,ch2:9000/":       {"ch2"},
		"clickhouse://u:p@ch1:9440/?secure=true":          nil,
		"https://u:p@ch1:8443,ch2:8443/":                  nil,
		"https://u:p@ch1:8443/?skip_verify=true":          nil,
		"clickhouse://u:p@ch1:9000/?secure=false&debug=1": {"ch1"},
	} {
		c := columnstore.Config{DSN: dsn}
		if diff := cmp.Diff(want, c.UnencryptedHosts()); diff != "" {
			t.Errorf("%s:\n%s", dsn, diff)
		}
		if user, err := c.User(); dsn != "" && (user != "u" || err != nil) {
			t.Errorf("%s: the user is %q (%v)", dsn, user, err)
		}
	}
	if user, err := (columnstore.Config{DSN: "http://ch:8123/"}).User(); user != "default" || err != nil {
		t.Errorf("a DSN without a user has %q (%v)", user, err)
	}
}
