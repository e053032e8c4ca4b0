package devreceiver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"vayu/internal/config"
	"vayu/schema"
)

// Client creates and deletes the subscription of a run.
type Client struct {
	// API is the URL of the service: https, or http on this machine.
	API string
	// Key is an API key with the scope webhooks:manage.
	Key string
	// KeyShown replaces the key in printed commands.
	KeyShown string
	// Events are the types to subscribe to; empty for all.
	Events []schema.EventType
	// Test requests a test event after the start.
	Test bool
}

// answerTime limits the time of a request, and maxReply the bytes of its reply.
const (
	answerTime = 10 * time.Second
	maxReply   = 1 << 20
)

// check validates the URL and the key.
func (c *Client) check() error {
	at, err := url.Parse(c.API)
	if err != nil || at.Hostname() == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "" {
		return fmt.Errorf("--api: %q is not the address of a service, such as http://127.0.0.1:8080", c.API)
	}
	switch {
	case at.Scheme == "https", at.Scheme == "http" && config.Local(at.Hostname()):
	case at.Scheme == "http":
		return fmt.Errorf("--api: %q would show the key to the network; use https", c.API)
	default:
		return fmt.Errorf("--api: %q is neither http nor https", c.API)
	}
	if c.Key == "" || strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("--key: invalid API key")
	}
	c.API = strings.TrimRight(c.API, "/")
	return nil
}

// do sends a request and decodes the reply. It does not follow redirects, which would leak the key.
func (c *Client) do(ctx context.Context, method, path string, body []byte, into any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, c.API+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.Key)
	r.Header.Set("User-Agent", "vayu-listen")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	reply, err := client.Do(r)
	if err != nil {
		if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
			return fmt.Errorf("no service answers on %s; is it running, and is this its address (--api)? %w", c.API, err)
		}
		return err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxReply))
	switch {
	case err != nil:
		return fmt.Errorf("reading the reply: %w", err)
	case reply.StatusCode < 200 || reply.StatusCode > 299:
		return refusal(c.API, reply.StatusCode, text)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("what answers on %s is no Vayu: %w", c.API, err)
	}
	return nil
}

// refusalError is an error reply of the service.
type refusalError struct{ schema.Problem }

// maxRefusal is how many bytes of an error message of the service are printed. The messages of Vayu
// are shorter.
const maxRefusal = 4 << 10

// Error returns the message of the service, and the remedy if advice has one.
func (e *refusalError) Error() string {
	message := printable(e.Message[:min(len(e.Message), maxRefusal)], "")
	if e.Field != "" {
		message = oneLine(e.Field) + ": " + message
	}
	return fmt.Sprintf("the service refuses: %s (%s)%s", message, oneLine(string(e.Code)), advice[e.Code])
}

// advice has the remedies of error codes, as text that follows the message.
var advice = map[schema.Code]string{
	schema.InsufficientScope: "; the key lacks the scope webhooks:manage, `vayu key create` makes one that has it",
	schema.InvalidWebhookURL: "; start the service with --webhook-local, so that webhooks may go to this machine",
	schema.URLNotAllowed:     "; start the service with --webhook-local, so that webhooks may go to this machine",
	schema.SignatureRequired: "; this command does not sign its requests, use a key without --require-signature",
}

func refusal(api string, status int, text []byte) error {
	var body schema.ProblemBody
	if json.Unmarshal(text, &body) != nil || body.Error.Code == "" {
		return fmt.Errorf("what answers on %s is no Vayu: it says %d %s", api, status, http.StatusText(status))
	}
	return &refusalError{schema.Problem{Code: body.Error.Code, Field: body.Error.Field, Message: body.Error.Message}}
}
