package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"vayu/internal/config"
	"vayu/internal/testing/fixture"
	"vayu/internal/topic"
	"vayu/internal/topic/broker"
)

// authority signs certificates for brokers and their clients.
type authority struct{ *fixture.Authority }

func newAuthority(tb testing.TB) authority {
	tb.Helper()
	return authority{fixture.NewAuthority(tb)}
}

// server returns an option by which a broker uses TLS with a certificate of this
// authority.
func (a authority) server(change func(*tls.Config)) kfake.Opt {
	out := &tls.Config{Certificates: []tls.Certificate{a.Server()}, MinVersion: tls.VersionTLS12}
	if change != nil {
		change(out)
	}
	return kfake.TLS(out)
}

// mutual requires a client certificate of the authority.
func (a authority) mutual(c *tls.Config) {
	c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, a.Pool()
}

// clientFiles writes a client certificate and its key, and returns their paths.
func (a authority) clientFiles(tb testing.TB) (cert, key string) {
	tb.Helper()
	client := a.Sign(&x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return a.Files(client, tb.TempDir())
}

// byTLS returns settings that trust the authority.
func (a authority) byTLS(more func(*broker.Settings)) func(*topic.Config) {
	ca := a.CA()
	return func(c *topic.Config) {
		c.TLS, c.CA = true, ca
		if more != nil {
			more(&c.Settings)
		}
	}
}

// login sets a mechanism and a password.
func login(sasl, password string) func(*broker.Settings) {
	return func(s *broker.Settings) { s.SASL, s.Username, s.Password = sasl, "vayu", config.NewSecret(password) }
}

// loginBroker starts a broker with a user and a password for each mechanism.
func loginBroker(tb testing.TB, more ...kfake.Opt) []string {
	tb.Helper()
	return fakeBroker(tb, append([]kfake.Opt{
		kfake.EnableSASL(), kfake.Superuser("PLAIN", "vayu", "one"),
		kfake.Superuser("SCRAM-SHA-256", "vayu", "two"), kfake.Superuser("SCRAM-SHA-512", "vayu", "three"),
	}, more...)...).ListenAddrs()
}

// rejectingBroker starts a broker that rejects logins with an error, as Kafka does.
// The broker of the library closes the connection.
func rejectingBroker(tb testing.TB, more ...kfake.Opt) []string {
	tb.Helper()
	cluster := fakeBroker(tb, append([]kfake.Opt{kfake.EnableSASL(), kfake.Superuser("PLAIN", "vayu", "x"), kfake.Superuser("SCRAM-SHA-512", "vayu", "x")}, more...)...)
	cluster.ControlKey(int16(kmsg.SASLAuthenticate), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		reply := request.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		reply.ErrorCode = kerr.SaslAuthenticationFailed.Code
		return reply, nil, true
	})
	return cluster.ListenAddrs()
}

// nonTLSBroker closes the connection at a TLS handshake, as brokers do after an
// invalid request.
func nonTLSBroker(tb testing.TB) []string {
	tb.Helper()
	return []string{fixture.Listen(tb, nil, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4))
		_ = conn.Close()
	}).Addr().String()}
}

// A secured broker is used for everything: creating topics, writing, reading, dead
// letters and the health check.
func TestEventsGoThroughSecuredBrokers(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	cert, key := a.clientFiles(t)
	for name, c := range map[string]struct {
		brokers  []string
		settings func(*topic.Config)
	}{
		"TLS":                  {fakeBroker(t, a.server(nil)).ListenAddrs(), a.byTLS(nil)},
		"TLS 1.2":              {fakeBroker(t, a.server(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 })).ListenAddrs(), a.byTLS(nil)},
		"certificate":          {fakeBroker(t, a.server(a.mutual)).ListenAddrs(), a.byTLS(func(s *broker.Settings) { s.Cert, s.Key = cert, key })},
		"scram-sha-256":        {loginBroker(t), func(c *topic.Config) { login(broker.LoginScram256, "two")(&c.Settings) }},
		"scram-sha-512":        {loginBroker(t), func(c *topic.Config) { login(broker.LoginScram512, "three")(&c.Settings) }},
		"scram-sha-512 by TLS": {loginBroker(t, a.server(nil)), a.byTLS(login(broker.LoginScram512, "three"))},
		"plain by TLS":         {loginBroker(t, a.server(nil)), a.byTLS(login(broker.LoginPlain, "one"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLog(t, c.brokers, c.settings)
			got := newCollector()
			consume(t, l, got.process)
			garbled := encode(testEvent(t, 7, "acc_1"))
			garbled.Headers = nil
			write(t, l, garbled)
			publish(t, l, testEvents(t, 0, 50)...)
			got.await(t, 50)
			eventually(t, "one dead letter", func() bool { return counted(t, l, "dead_letters_total", reasonHeaders) == 1 })
			if word := l.Status(t.Context()); word != "ok" {
				t.Errorf("got %q", word)
			}
		})
	}
}

// A rejected login is logged once, with the name of the setting and without the
// password.
func TestRejectedLoginIsExplained(t *testing.T) {
	t.Parallel()
	a, other := newAuthority(t), newAuthority(t)
	cert, key := other.clientFiles(t)
	for name, c := range map[string]struct {
		brokers  []string
		settings func(*topic.Config)
		word     string
		names    string // the setting, in the log
	}{
		"wrong password":       {rejectingBroker(t, a.server(nil)), a.byTLS(login(broker.LoginScram512, "hunter2")), "refuses the login", "event-log.password"},
		"wrong plain password": {rejectingBroker(t, a.server(nil)), a.byTLS(login(broker.LoginPlain, "hunter2")), "refuses the login", "event-log.password"},
		"wrong CA":             {fakeBroker(t, a.server(nil)).ListenAddrs(), other.byTLS(nil), "has a certificate that is not trusted", "event-log.ca"},
		"the system's CA":      {fakeBroker(t, a.server(nil)).ListenAddrs(), func(c *topic.Config) { c.TLS = true }, "has a certificate that is not trusted", "event-log.ca"},
		"no TLS":               {nonTLSBroker(t), a.byTLS(nil), "does not answer by TLS", "event-log.tls"},
		"no certificate":       {fakeBroker(t, a.server(a.mutual)).ListenAddrs(), a.byTLS(nil), "refuses the certificate", "event-log.cert"},
		"wrong certificate":    {fakeBroker(t, a.server(a.mutual)).ListenAddrs(), a.byTLS(func(s *broker.Settings) { s.Cert, s.Key = cert, key }), "refuses the certificate", "event-log.cert"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log fixture.Log
			l := newLog(t, c.brokers, func(to *topic.Config) {
				c.settings(to)
				to.Log = slog.New(slog.NewTextHandler(&log, nil))
			})
			stop := consume(t, l, newCollector().process)
			eventually(t, "three tries", func() bool { return counted(t, l, "connection_failures_total") >= 3 })
			stop()
			if got, want := l.Status(t.Context()), c.word+"; events wait"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if _, err := l.Publish(t.Context(), testEvents(t, 0, 1)); err == nil || !strings.Contains(err.Error(), c.names) {
				t.Errorf("publishing: got %v, want an error that names %s", err, c.names)
			}
			text := log.String()
			if strings.Count(text, "\n") != 1 || !strings.Contains(text, c.names) {
				t.Errorf("the log is not one line that names %s:\n%s", c.names, text)
			}
			if strings.Contains(text, "hunter2") {
				t.Errorf("the log has the password:\n%s", text)
			}
		})
	}
}

// A login at a frozen broker, or at another kind of server, times out.
func TestLoginTimesOut(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	brokers := append([]string{silent.Addr().String()}, loginBroker(t)...)
	l := newLog(t, brokers, func(c *topic.Config) { login(broker.LoginScram512, "three")(&c.Settings) })
	if err := l.Check(t.Context()); err != nil {
		t.Errorf("one of two brokers answers, and Check returns %v", err)
	}
	security, err := l.Security()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := security.GroupDialer(t.Context(), nil).DialContext(ctx, "tcp", brokers[0])
		ended <- err
	}()
	if err := receive(t, ended); err == nil {
		t.Error("a silent server was accepted as a broker")
	}
}

func TestUnreadableFilesAreNamed(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	cert, key := a.clientFiles(t)
	for want, change := range map[string]func(*broker.Settings){
		"ca: ":       func(s *broker.Settings) { s.CA = "/nowhere/ca.pem" },
		"ca: /":      func(s *broker.Settings) { s.CA = key },
		"cert: ":     func(s *broker.Settings) { s.Cert, s.Key = cert, "/nowhere/key.pem" },
		"cert: r":    func(s *broker.Settings) { s.Cert, s.Key = key, cert },
		"password: ": func(s *broker.Settings) { login(broker.LoginScram256, "bell\a")(s) },
	} {
		s := broker.DefaultSettings()
		s.TLS = true
		change(&s)
		_, err := New(topic.Config{Settings: s, Brokers: []string{"kafka:9093"}})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\a") {
			t.Errorf("got %v, want a fault that begins %q", err, want)
		}
	}
}

func TestConnectionSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*broker.Settings)
		wants  []string
	}{
		"TLS":                     {func(s *broker.Settings) { s.TLS = true }, nil},
		"CA without TLS":          {func(s *broker.Settings) { s.CA = "ca.pem" }, []string{"ca"}},
		"certificate without TLS": {func(s *broker.Settings) { s.Cert, s.Key = "c", "k" }, []string{"cert", "key"}},
		"certificate without key": {func(s *broker.Settings) { s.TLS, s.Cert = true, "c" }, []string{"key"}},
		"key without certificate": {func(s *broker.Settings) { s.TLS, s.Key = true, "k" }, []string{"cert"}},
		"scram":                   {login(broker.LoginScram512, "p"), nil},
		"plain without TLS":       {login(broker.LoginPlain, "p"), []string{"sasl"}},
		"plain":                   {func(s *broker.Settings) { login(broker.LoginPlain, "p")(s); s.TLS = true }, nil},
		"no such way":             {login("gssapi", "p"), []string{"sasl"}},
		"no password":             {login(broker.LoginScram256, ""), []string{"password"}},
		"no user":                 {func(s *broker.Settings) { login(broker.LoginScram256, "p")(s); s.Username = "" }, []string{"username"}},
		"password without user":   {func(s *broker.Settings) { s.Password = config.NewSecret("p") }, []string{"sasl"}},
		"user without a way":      {func(s *broker.Settings) { s.Username = "vayu" }, []string{"sasl"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := broker.DefaultSettings()
			c.change(&s)
			faults := s.Validate()
			got := errors.Join(faults...)
			for _, want := range c.wants {
				if got == nil || !strings.Contains(got.Error(), want+": ") {
					t.Errorf("got %v, want a fault of %s", got, want)
				}
			}
			if len(faults) != len(c.wants) {
				t.Errorf("got %v, want faults of %v", got, c.wants)
			}
		})
	}
}
