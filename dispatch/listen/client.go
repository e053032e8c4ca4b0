package listen

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

	"vayu/schema"
)

// Client makes a subscription at a service and ends it.
type Client struct {
	// API is where the service answers: https, or http on this machine.
	API string
	// Key is an API key with the scope webhooks:manage.
	Key string
	// KeyShown is what stands for the key in what is printed for copying.
	KeyShown string
	// Events are the types that are wanted; none means all.
	Events []schema.EventType
}

// answerTime bounds one request, and mostReply its answer.
const (
	answerTime = 10 * time.Second
	mostReply  = 1 << 20
)

// check fails when the address cannot be that of a service.
func (c *Client) check() error {
	at, err := url.Parse(c.API)
	if err != nil || at.Host == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "" {
		return fmt.Errorf("--api: %q is not the address of a service, such as http://127.0.0.1:8080", c.API)
	}
	switch {
	case at.Scheme == "https", at.Scheme == "http" && isLocal(at.Hostname()):
	case at.Scheme == "http":
		return fmt.Errorf("--api: %q would show the key to the network; use https", c.API)
	default:
		return fmt.Errorf("--api: %q is neither http nor https", c.API)
	}
	if c.Key == "" || strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("--key: that is no API key")
	}
	c.API = strings.TrimRight(c.API, "/")
	return nil
}

func isLocal(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// wanted is the body of POST /v1/webhooks.
type wanted struct {
	URL    string             `json:"url"`
	Events []schema.EventType `json:"events"`
	Secret string             `json:"secret,omitempty"`
}

// create makes the subscription.
func (c *Client) create(ctx context.Context, w wanted) (schema.WebhookShown, error) {
	var made schema.WebhookShown
	if w.Events = c.Events; len(w.Events) == 0 {
		w.Events = schema.EventTypes
	}
	body, err := json.Marshal(w) //nolint:gosec // the secret goes to the service, which needs it
	if err != nil {
		return made, err
	}
	if err := c.do(ctx, http.MethodPost, "/v1/webhooks", body, &made); err != nil {
		return made, fmt.Errorf("making the subscription: %w", err)
	}
	if !plainID(made.ID) || made.Secret == "" && w.Secret == "" {
		return made, fmt.Errorf("making the subscription: what answers on %s is no Vayu: its reply has no id or no secret", c.API)
	}
	return made, nil
}

// plainID tells whether an id can stand in a path and in a shell as it is.
func plainID(id string) bool {
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// remove ends the subscription; one that is gone is no error.
func (c *Client) remove(ctx context.Context, id string) error {
	err := c.do(ctx, http.MethodDelete, "/v1/webhooks/"+id, nil, new(schema.WebhookDeleted))
	if refused, ok := errors.AsType[*refusalError](err); ok && refused.code == schema.NotFound {
		return nil
	}
	return err
}

// do asks the service. A redirect is not followed: it would carry the key away.
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
	text, err := io.ReadAll(io.LimitReader(reply.Body, mostReply))
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

// refusalError is what the service says against a request, and what to do.
type refusalError struct {
	code    schema.Code
	message string
	advice  string
}

// Error implements error.
func (e *refusalError) Error() string {
	return fmt.Sprintf("the service refuses: %s (%s)%s", oneLine(e.message), oneLine(string(e.code)), e.advice)
}

// advice is what to do about a refusal.
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
	return &refusalError{body.Error.Code, body.Error.Message, advice[body.Error.Code]}
}
