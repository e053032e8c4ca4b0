package devreceiver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"vayu/internal/config"
	"vayu/schema"
)

// Client creates and deletes the webhook subscription that a Listener uses while it runs.
type Client struct {
	// API is the URL of the service: https, or http on this machine.
	API string
	// Key is an API key with the scope webhooks:manage.
	Key string
	// KeyShown is printed in place of the key in example commands.
	KeyShown string
	// Events are the types to subscribe to; empty for all.
	Events []schema.EventType
	// Test makes the listener request a test event after it has created the subscription.
	Test bool
}

const (
	requestTimeout = 10 * time.Second
	maxReply       = 1 << 20 // bytes
	maxMessage     = 4 << 10 // bytes of an error message that are printed
)

const webhooks = "/v1/webhooks"

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

// call sends a request to the API and decodes the reply. If `body` is nil, the request has no body.
func call[T any](ctx context.Context, c *Client, method, path string, body any) (reply T, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var content []byte
	if body != nil {
		if content, err = json.Marshal(body); err != nil {
			return reply, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, c.API+path, bytes.NewReader(content))
	if err != nil {
		return reply, err
	}
	r.Header.Set("Authorization", "Bearer "+c.Key)
	r.Header.Set("Content-Type", "application/json")
	// A redirect could send the key to another service.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	answer, err := client.Do(r)
	if err != nil {
		return reply, fmt.Errorf("no service answers on %s; is it running, and is this its address (--api)? %w", c.API, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxReply))
	if err != nil {
		return reply, fmt.Errorf("reading the reply: %w", err)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return reply, refusal(c.API, answer, text)
	}
	if err := json.Unmarshal(text, &reply); err != nil {
		return reply, fmt.Errorf("the server on %s is not Vayu: %w", c.API, err)
	}
	return reply, nil
}

// remedies maps error codes of the service to the texts that are appended to its error messages.
var remedies = map[schema.Code]string{
	schema.InsufficientScope: "; the key lacks the scope webhooks:manage, `vayu key create` makes one that has it",
	schema.InvalidWebhookURL: "; start the service with --webhook-local, so that webhooks may go to this machine",
	schema.URLNotAllowed:     "; start the service with --webhook-local, so that webhooks may go to this machine",
	schema.SignatureRequired: "; this command does not sign its requests, use a key without --require-signature",
}

type serviceError struct {
	code schema.Code
	text string
}

// Error returns the message of the service with a remedy.
func (e *serviceError) Error() string { return "the service refuses: " + e.text }

// refusal returns the error for a reply whose status is not 2xx.
func refusal(api string, reply *http.Response, text []byte) error {
	var body schema.ProblemBody
	if json.Unmarshal(text, &body) != nil || body.Error.Code == "" {
		return fmt.Errorf("the server on %s is not Vayu: it says %s", api, reply.Status)
	}
	message := body.Error.Message
	if body.Error.Field != "" {
		message = body.Error.Field + ": " + message
	}
	code := body.Error.Code
	message = printable(fmt.Sprintf("%s (%s)", message[:min(len(message), maxMessage)], code)) + remedies[code]
	return &serviceError{code, message}
}

// subscribe creates a subscription with the URL `address`. First it deletes older subscriptions with that URL, which
// remain if a run was killed. If `secret` is empty, the service generates one.
func (c *Client) subscribe(ctx context.Context, address, secret string) (made schema.WebhookReply, err error) {
	left, err := c.subscriptionsTo(ctx, address)
	if err != nil {
		return made, fmt.Errorf("looking for subscriptions that were left behind: %w", err)
	}
	for _, id := range left {
		if err := c.unsubscribe(ctx, id); err != nil {
			return made, err
		}
	}
	body := map[string]any{"url": address, "events": c.Events}
	if len(c.Events) == 0 {
		body["events"] = schema.CustomerEventTypes()
	}
	if secret != "" {
		body["secret"] = secret
	}
	made, err = call[schema.WebhookReply](ctx, c, http.MethodPost, webhooks, body)
	if err != nil {
		return made, fmt.Errorf("making the subscription: %w", err)
	}
	if made.Secret = cmp.Or(made.Secret, secret); !schema.IsID(made.ID) || made.Secret == "" {
		return made, fmt.Errorf("making the subscription: the server on %s is not Vayu: its reply has no id or no secret", c.API)
	}
	return made, nil
}

func (c *Client) subscriptionsTo(ctx context.Context, address string) (ids []string, err error) {
	path := webhooks + "?limit=200"
	for next := path; ; {
		page, err := call[schema.List[schema.Webhook]](ctx, c, http.MethodGet, next, nil)
		if err != nil {
			return nil, err
		}
		for _, w := range page.Data {
			if w.URL == address && schema.IsID(w.ID) {
				ids = append(ids, w.ID)
			}
		}
		if page.NextCursor == nil {
			return ids, nil
		}
		next = path + "&cursor=" + url.QueryEscape(*page.NextCursor)
	}
}

// unsubscribe deletes a subscription. It is no error if the subscription does not exist.
func (c *Client) unsubscribe(ctx context.Context, id string) error {
	_, err := call[schema.WebhookDeleted](ctx, c, http.MethodDelete, webhooks+"/"+id, nil)
	if refused, ok := errors.AsType[*serviceError](err); ok && refused.code == schema.NotFound || err == nil {
		return nil
	}
	return fmt.Errorf("deleting the subscription %s, which stays active: %w", id, err)
}
