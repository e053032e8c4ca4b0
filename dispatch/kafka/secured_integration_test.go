//go:build integration

package kafka

import (
	"crypto/pbkdf2"
	"crypto/sha512"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/segmentio/kafka-go"

	"vayu/internal/config"
	"vayu/internal/testing/fixture"
	"vayu/internal/topic/broker"

	"vayu/internal/topic"
)

// A real broker accepts only TLS, and requires a login.
func TestIntegrationSecuredBroker(t *testing.T) {
	t.Parallel()
	realBroker(t) // there is a Kafka to start
	dir := filepath.Join(t.TempDir(), "kafka")
	t.Cleanup(func() {
		if _, err := os.Stat(dir); err == nil {
			script(t, "stop", dir)
		}
	})
	brokers := strings.Split(script(t, "start", dir, "--secure"), ",")
	file := func(name string) string { return filepath.Join(dir, "tls", name) }
	text, err := os.ReadFile(file("password"))
	if err != nil {
		t.Fatal(err)
	}
	secured := func(sasl string, more func(*topic.Config)) func(*topic.Config) {
		return func(c *topic.Config) {
			c.TLS, c.CA = true, file("ca.pem")
			login(sasl, strings.TrimSpace(string(text)))(&c.Settings)
			if more != nil {
				more(c)
			}
		}
	}
	certificate := func(c *topic.Config) { c.Cert, c.Key = file("client.pem"), file("client.key") }
	t.Run("events go through", func(t *testing.T) {
		t.Parallel()
		for name, settings := range map[string]func(*topic.Config){
			"scram-sha-512": secured(broker.LoginScram512, nil),
			"scram-sha-256": secured(broker.LoginScram256, certificate),
			"plain":         secured(broker.LoginPlain, nil),
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				l := newLog(t, brokers, func(c *topic.Config) { settings(c); c.Pace = topic.Pace{} })
				got := newCollector()
				consume(t, l, got.process)
				await(t, l)
				publish(t, l, testEvents(t, 0, 100)...)
				got.await(t, 100)
			})
		}
	})
	t.Run("who is not let in", func(t *testing.T) {
		t.Parallel()
		other := fixture.NewAuthority(t).CA()
		for want, settings := range map[string]func(*topic.Config){
			"refuses the login":                     secured(broker.LoginScram512, func(c *topic.Config) { c.Password = config.NewSecret("wrong") }),
			"has a certificate that is not trusted": secured(broker.LoginScram512, func(c *topic.Config) { c.CA = other }),
		} {
			l := newLog(t, brokers, settings)
			if got := l.Status(t.Context()); got != want+"; events wait" {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
	t.Run("a login that is mended", func(t *testing.T) {
		t.Parallel()
		operator := newLog(t, brokers, secured(broker.LoginPlain, nil))
		var log fixture.Log
		l := newLog(t, brokers, secured(broker.LoginScram512, func(c *topic.Config) {
			c.Username, c.Pace = "later", topic.Pace{}
			c.Log = slog.New(slog.NewTextHandler(&log, nil))
		}))
		got := newCollector()
		consume(t, l, got.process)
		eventually(t, "three tries", func() bool { return counted(t, l, "connection_failures_total") >= 3 })
		admit(t, operator, "later", strings.TrimSpace(string(text)))
		await(t, l)
		publish(t, l, testEvents(t, 0, 10)...)
		got.await(t, 10)
		if log.Count("does not answer") != 1 || log.Count("event-log.password") != 1 || log.Count("answers again") != 1 {
			t.Errorf("got other lines than one for the failure and one for the recovery:\n%s", log.String())
		}
	})
}

// await waits until the broker of a Log answers.
func await(tb testing.TB, l *Log) {
	tb.Helper()
	eventually(tb, "the broker lets it in, and has the topics", func() bool { return l.Check(tb.Context()) == nil && l.Create(tb.Context()) == nil })
}

// admit creates a user of the brokers that logs in by SCRAM-SHA-512.
func admit(tb testing.TB, operator *Log, name, password string) {
	tb.Helper()
	const iterations = 4096
	salt := []byte("salt of a test")
	salted, err := pbkdf2.Key(sha512.New, password, salt, iterations, sha512.Size)
	if err != nil {
		tb.Fatal(err)
	}
	client := &kafka.Client{Addr: kafka.TCP(operator.Brokers...), Transport: transportOf(tb, operator)}
	reply, err := client.AlterUserScramCredentials(tb.Context(), &kafka.AlterUserScramCredentialsRequest{
		Upsertions: []kafka.UserScramCredentialsUpsertion{{
			Name: name, Mechanism: kafka.ScramMechanismSha512, Iterations: iterations, Salt: salt, SaltedPassword: salted,
		}},
	})
	if err != nil || len(reply.Results) != 1 || reply.Results[0].Error != nil {
		tb.Fatal(reply, err)
	}
}
