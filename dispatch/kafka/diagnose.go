package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/segmentio/kafka-go"
)

// What /readyz says of brokers that are there and will not have us.
const (
	wordLogin       = "refuses the login"
	wordUntrusted   = "has a certificate that is not trusted"
	wordNoTLS       = "does not answer by TLS"
	wordCertificate = "refuses the certificate"
	wordForbidden   = "forbids what the event log needs"
)

// diagnose is what is wrong with settings, here or of the brokers, and what to
// look at; empty where brokers are merely away.
func diagnose(err error) (word, advice string) {
	if err == nil {
		return "", ""
	}
	is := func(codes ...kafka.Error) bool {
		for _, code := range codes {
			if errors.Is(err, code) {
				return true
			}
		}
		return false
	}
	if is(kafka.SASLAuthenticationFailed) {
		return wordLogin, "event-log.username and event-log.password are none of the brokers' for event-log.sasl"
	}
	if is(kafka.UnsupportedSASLMechanism) {
		return wordLogin, "the brokers do not offer event-log.sasl"
	}
	if is(kafka.TopicAuthorizationFailed, kafka.GroupAuthorizationFailed, kafka.ClusterAuthorizationFailed) {
		return wordForbidden, "the user has not the rights of docs/operations/kafka.md"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return wordUntrusted, "event-log.ca has not signed it, or it is of another name or time"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" {
		return wordCertificate, "event-log.cert is missing, over, or of an authority that the brokers do not know"
	}
	if _, ok := errors.AsType[handshakeError](err); ok { // after what is more exact
		return wordNoTLS, "event-log.tls is on; perhaps the listener has none"
	}
	return "", ""
}

// explain adds to an error what to look at.
func explain(err error) error {
	if _, advice := diagnose(err); advice != "" {
		return fmt.Errorf("%s: %w", advice, err)
	}
	return err
}

// Check asks the brokers whether they answer, all at once; one that does is
// enough.
func (l *Log) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	answers := make(chan error, len(l.Brokers))
	for _, broker := range l.Brokers {
		go func() { answers <- l.ask(ctx, broker) }()
	}
	var faults []error
	answered := false
	for range l.Brokers {
		err := <-answers
		if err == nil {
			answered = true
			cancel() // the others need not answer any more
		}
		faults = append(faults, err)
	}
	if answered {
		return nil
	}
	return fmt.Errorf("asking the brokers: %w", explain(errors.Join(faults...)))
}

// Word is Check in words for people: "ok", or what is wrong.
func (l *Log) Word(ctx context.Context) string {
	err := l.Check(ctx)
	if err == nil {
		return "ok"
	}
	word, _ := diagnose(err)
	if word == "" {
		word = "does not answer"
	}
	return word + "; events wait"
}

// ask opens a connection of its own: one of the writer's may be stale, and says
// nothing about the broker. What waits for an answer wakes up at the end of ctx.
func (l *Log) ask(ctx context.Context, broker string) error {
	dialer := &kafka.Dialer{ClientID: clientID, SASLMechanism: l.secure.login, DialFunc: func(within context.Context, network, address string) (net.Conn, error) {
		conn, err := l.secure.dial(within, network, address)
		if err == nil {
			context.AfterFunc(ctx, func() { _ = conn.Close() })
		}
		return conn, err
	}}
	conn, err := dialer.DialContext(ctx, "tcp", broker)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // it was only read from
	if _, err := conn.ApiVersions(); err != nil {
		return fmt.Errorf("asking %s: %w", broker, err)
	}
	return nil
}
