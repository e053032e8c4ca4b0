// Package vayu is a client of the API of Vayu. It retries calls, waits for the rate limit, iterates over lists and live
// changes, and verifies webhooks. Package contract has the types of requests and replies, generated from the OpenAPI
// description.
package vayu

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Client makes calls. BaseURL and Key are required. All other fields have defaults. A Client is safe for concurrent
// use, and must not be changed or copied after its first call.
type Client struct {
	BaseURL string // URL of the service, such as https://api.example.com
	// Key returns the API key. The client calls Key before each attempt, with an empty string. If the service rejects
	// the returned key, the client passes that key to Key as `rejected`, to get another one.
	Key func(ctx context.Context, rejected string) (string, error)
	// SigningSecret signs each request, if the key requires signed requests.
	SigningSecret string
	// Timeout limits an attempt, from the request to the end of the reply. The default is 30 seconds.
	Timeout time.Duration
	// Retries is the number of attempts after the first one. The default is 4. A negative number turns retries off.
	Retries int
	// MaxWait is the longest wait before a retry. A longer Retry-After ends the call. The default is one minute.
	MaxWait time.Duration
	// NoPacing sends calls even while the rate limit is used up, so that they get 429. By default such calls wait.
	NoPacing bool
	// HTTP sends requests. The default is http.DefaultClient.
	HTTP *http.Client

	pace   pace
	signer signer
}

// StaticKey returns a Key function for a key that never changes.
func StaticKey(key string) func(context.Context, string) (string, error) {
	return func(context.Context, string) (string, error) { return key, nil }
}

// Call has the optional parts of a call.
type Call struct {
	Query url.Values
	Path  map[string]string // values of the variables of the path, without escapes
	// Header adds fields to the request. The client itself sets Authorization and Content-Type.
	Header http.Header
	// IdempotencyKey identifies a POST, except for [PostsWithoutKey]. Retries send the same key. The default is random.
	IdempotencyKey string
	// Timeout replaces the timeout of the client for this call.
	Timeout time.Duration
}

// postsWithoutKey are the paths of the POSTs without the header Idempotency-Key. In a recharge, ref_id has the effect
// of this header.
//
//nolint:gochecknoglobals // a constant
var postsWithoutKey = []string{"/v1/recharge", "/v1/sessions", "/v1/sessions/current/mode", "/v1/sign-in-links", "/v1/sign-in-links/confirm", "/v1/signup", "/v1/signup/confirm", "/callbacks/{provider}"}

// PostsWithoutKey returns the paths of the POSTs without the header Idempotency-Key.
func PostsWithoutKey() []string { return slices.Clone(postsWithoutKey) }

// Get calls GET on a path of the API, such as /v1/stations/{id}, and decodes the reply into `reply`, a pointer. The
// error is a *ProblemError if the service rejects the call, and a *TransportError if no complete reply arrives.
func (c *Client) Get(ctx context.Context, path string, call Call, reply any) error {
	return c.json(ctx, http.MethodGet, path, call, nil, reply)
}

// Post calls POST with a JSON body, and decodes the reply. It returns the errors of [Client.Get].
func (c *Client) Post(ctx context.Context, path string, call Call, body, reply any) error {
	return c.json(ctx, http.MethodPost, path, call, body, reply)
}

// Put calls PUT with a JSON body, and decodes the reply. It returns the errors of [Client.Get].
func (c *Client) Put(ctx context.Context, path string, call Call, body, reply any) error {
	return c.json(ctx, http.MethodPut, path, call, body, reply)
}

// Patch calls PATCH with a JSON body, and decodes the reply. It returns the errors of [Client.Get].
func (c *Client) Patch(ctx context.Context, path string, call Call, body, reply any) error {
	return c.json(ctx, http.MethodPatch, path, call, body, reply)
}

// Delete calls DELETE, and decodes the reply. It returns the errors of [Client.Get].
func (c *Client) Delete(ctx context.Context, path string, call Call, reply any) error {
	return c.json(ctx, http.MethodDelete, path, call, nil, reply)
}

// Response calls GET and returns the reply itself, for images, tiles, exports, GeoJSON and replies with status 304. The
// caller must close the body of the reply. The timeout limits the time until the header of the reply arrives. Response
// returns the errors of [Client.Get].
func (c *Client) Response(ctx context.Context, path string, call Call) (*http.Response, error) {
	o, err := c.prepare(http.MethodGet, path, call, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.send(ctx, o, true)
	return resp.Response, err
}

func (c *Client) json(ctx context.Context, method, path string, call Call, body, reply any) error {
	o, err := c.prepare(method, path, call, body)
	if err != nil {
		return err
	}
	resp, err := c.send(ctx, o, false)
	if err != nil || reply == nil {
		return err
	}
	if err := json.Unmarshal(resp.text, reply); err != nil {
		return fmt.Errorf("vayu: %s %s: decoding the reply: %w", method, path, err)
	}
	return nil
}

// prepare builds the parts of a request that are the same in each attempt.
func (c *Client) prepare(method, route string, call Call, body any) (o outgoing, err error) {
	o = outgoing{method: method, route: route, header: call.Header.Clone(), timeout: call.Timeout, idempotent: method != http.MethodPost || route == "/v1/recharge"}
	if c.Key == nil {
		return o, errors.New("vayu: Client.Key is missing")
	}
	if o.header == nil {
		o.header = http.Header{}
	}
	if o.timeout == 0 {
		o.timeout = c.Timeout
	}
	if o.timeout == 0 {
		o.timeout = 30 * time.Second
	}
	if body != nil {
		if o.body, err = json.Marshal(body); err != nil {
			return o, fmt.Errorf("vayu: %s %s: encoding the body: %w", method, route, err)
		}
		o.header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPost && !slices.Contains(postsWithoutKey, route) {
		key := call.IdempotencyKey
		if key == "" {
			key = rand.Text()
		}
		o.header.Set("Idempotency-Key", key)
		o.idempotent = true
	}
	o.url, err = c.url(route, call)
	return o, err
}

// url returns the URL of a call. An empty variable is an error, because the URL would be that of another route.
func (c *Client) url(route string, call Call) (string, error) {
	var b strings.Builder
	b.WriteString(strings.TrimRight(c.BaseURL, "/"))
	for rest := route; rest != ""; {
		before, after, _ := strings.Cut(rest, "{")
		b.WriteString(before)
		if after == "" {
			break
		}
		name, tail, _ := strings.Cut(after, "}")
		value := call.Path[name]
		if value == "" {
			return "", fmt.Errorf("vayu: %s: Call.Path has no value of %q", route, name)
		}
		b.WriteString(url.PathEscape(value))
		rest = tail
	}
	if len(call.Query) > 0 {
		b.WriteByte('?')
		b.WriteString(call.Query.Encode())
	}
	return b.String(), nil
}
