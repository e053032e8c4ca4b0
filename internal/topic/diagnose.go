package topic

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/segmentio/kafka-go"

	"vayu/internal/topic/broker"
)

// Statuses that /readyz shows if brokers reject this service, or TLS with them fails.
const (
	statusLogin       = "refuses the login"
	statusUntrusted   = "has a certificate that is not trusted"
	statusNoTLS       = "does not answer by TLS"
	statusCertificate = "refuses the certificate"
	statusForbidden   = "forbids what the event log needs"
)

// diagnose returns a status and a remedy if an error means that this service or the brokers are configured wrongly. For
// other errors, such as those of unreachable brokers, it returns two empty texts.
func diagnose(err error) (status, advice string) {
	if err == nil {
		return "", ""
	}
	is := func(codes ...kafka.Error) bool {
		return slices.ContainsFunc(codes, func(code kafka.Error) bool { return errors.Is(err, code) })
	}
	if is(kafka.SASLAuthenticationFailed) {
		return statusLogin, "the brokers do not accept event-log.username and event-log.password for event-log.sasl"
	}
	if is(kafka.UnsupportedSASLMechanism) {
		return statusLogin, "the brokers do not offer event-log.sasl"
	}
	if is(kafka.TopicAuthorizationFailed, kafka.GroupAuthorizationFailed, kafka.ClusterAuthorizationFailed) {
		return statusForbidden, "the user lacks rights listed in docs/operations/kafka.md"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return statusUntrusted, "event-log.ca has not signed the certificate, or its name or validity is wrong"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" {
		return statusCertificate, "event-log.cert is missing, expired, or not signed by an authority that the brokers trust"
	}
	if _, ok := errors.AsType[broker.HandshakeError](err); ok { // checked last, because it may wrap one of the errors above
		return statusNoTLS, "event-log.tls is on; perhaps the listener has none"
	}
	return "", ""
}

// explain adds to an error the remedy that diagnose returns. It returns an error without a remedy unchanged.
func explain(err error) error {
	if _, advice := diagnose(err); advice != "" {
		return fmt.Errorf("%s: %w", advice, err)
	}
	return err
}

// Check probes all brokers concurrently. It returns nil if at least one broker replies.
func (c *Client) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, broker.DialTimeout)
	defer cancel()
	answers := make(chan error, len(c.Brokers))
	for _, broker := range c.Brokers {
		go func() { answers <- c.probe(ctx, broker) }()
	}
	var faults []error
	answered := false
	for range c.Brokers {
		err := <-answers
		if err == nil {
			answered = true
			cancel() // the other replies are not needed
		}
		faults = append(faults, err)
	}
	if answered {
		return nil
	}
	return fmt.Errorf("probing the brokers: %w", explain(errors.Join(faults...)))
}

// Status returns the result of Check as text: "ok", or what is wrong.
func (c *Client) Status(ctx context.Context) string {
	err := c.Check(ctx)
	if err == nil {
		return "ok"
	}
	status, _ := diagnose(err)
	if status == "" {
		status = "does not answer"
	}
	return status + "; " + c.Content + " wait"
}

// probe connects to a broker and reads its API versions. It opens a new connection, because an idle connection of the
// writer may be stale.
func (c *Client) probe(ctx context.Context, address string) error {
	transport := c.newTransport()
	defer transport.CloseIdleConnections()
	_, err := (&kafka.Client{Addr: kafka.TCP(address), Transport: transport}).ApiVersions(ctx, &kafka.ApiVersionsRequest{})
	if err != nil {
		return fmt.Errorf("probing %s: %w", address, err)
	}
	return nil
}
