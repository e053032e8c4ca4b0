package vayu

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"
)

const (
	firstBackoff   = 500 * time.Millisecond
	maxBackoff     = 30 * time.Second
	defaultRetries = 4
	defaultMaxWait = time.Minute
)

// TransportError means that no complete reply arrived.
type TransportError struct {
	Method, Path string
	Err          error
	late         bool
}

// Error describes the call and the cause.
func (e *TransportError) Error() string {
	return fmt.Sprintf("vayu: %s %s: no complete reply: %v", e.Method, e.Path, e.Err)
}

// Unwrap returns the error of the HTTP client.
func (e *TransportError) Unwrap() error { return e.Err }

// Timeout reports whether the attempt took longer than its timeout.
func (e *TransportError) Timeout() bool { return e.late }

// outgoing has the data of a request. All attempts to send the request use the same data.
type outgoing struct {
	method, route, url string
	header             http.Header
	body               []byte
	timeout            time.Duration
	idempotent         bool // a repeated request has no further effect
}

// incoming is a successful reply. `text` is its body, or empty for a stream, whose body the caller reads.
type incoming struct {
	*http.Response
	text []byte
}

// send sends a request. It retries (see canRetry) within the limits [Client.Retries] and [Client.MaxWait].
func (c *Client) send(ctx context.Context, o outgoing, stream bool) (incoming, error) {
	for attempt := 0; ; attempt++ {
		if !c.NoPacing {
			if err := sleep(ctx, c.pace.delay(o.route, time.Now())); err != nil {
				return incoming{}, err
			}
		}
		resp, err := c.tryKeys(ctx, o, stream)
		if err == nil || ctx.Err() != nil {
			return resp, err
		}
		problem, _ := errors.AsType[*ProblemError](err)
		wait := backoff(attempt)
		if problem != nil {
			wait = max(wait, problem.RetryAfter)
		}
		if attempt >= c.retries() || !canRetry(err, problem, o) || wait > c.maxWait() {
			return incoming{}, err
		}
		if err := sleep(ctx, wait); err != nil {
			return incoming{}, err
		}
	}
}

// tryKeys makes an attempt. If the service rejects the key, and Client.Key returns another key, tryKeys makes a second
// attempt. The second attempt does not count as a retry, because the service has not processed the first one.
func (c *Client) tryKeys(ctx context.Context, o outgoing, stream bool) (incoming, error) {
	key, err := c.key(ctx, "")
	if err != nil {
		return incoming{}, err
	}
	resp, err := c.attempt(ctx, o, key, stream)
	if problem, ok := errors.AsType[*ProblemError](err); !ok || problem.Status != http.StatusUnauthorized {
		return resp, err
	}
	next, keyErr := c.key(ctx, key)
	if keyErr != nil || next == key {
		return incoming{}, errors.Join(err, keyErr)
	}
	return c.attempt(ctx, o, next, stream)
}

func (c *Client) retries() int {
	if c.Retries == 0 {
		return defaultRetries
	}
	return c.Retries
}

func (c *Client) maxWait() time.Duration {
	if c.MaxWait == 0 {
		return defaultMaxWait
	}
	return c.MaxWait
}

// canRetry reports whether the client may repeat a request. A request that the rate limit rejected has changed nothing.
// After another retryable error or an incomplete reply, the client repeats only an idempotent request.
func canRetry(err error, problem *ProblemError, o outgoing) bool {
	if problem != nil {
		return problem.Retryable && (o.idempotent || problem.Status == http.StatusTooManyRequests)
	}
	_, lost := errors.AsType[*TransportError](err)
	return lost && o.idempotent
}

// backoff returns the wait before a retry: exponential with jitter.
func backoff(attempt int) time.Duration {
	longest := min(maxBackoff, firstBackoff<<min(attempt, 10))
	return longest/2 + rand.N(longest/2)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

func (c *Client) key(ctx context.Context, rejected string) (string, error) {
	key, err := c.Key(ctx, rejected)
	if err != nil {
		return "", fmt.Errorf("vayu: getting the key: %w", err)
	}
	return key, nil
}

// errLate is the cause of the context of an attempt that took too long.
var errLate = errors.New("the attempt took longer than its timeout")

// attempt makes one attempt. The error is a *ProblemError, a *TransportError, the cause of `parent`, or an invalid URL.
func (c *Client) attempt(parent context.Context, o outgoing, key string, stream bool) (incoming, error) {
	ctx, cancel := context.WithCancelCause(parent)
	timer := time.AfterFunc(o.timeout, func() { cancel(errLate) })
	defer timer.Stop()
	q, err := http.NewRequestWithContext(ctx, o.method, o.url, bytes.NewReader(o.body))
	if err != nil {
		cancel(nil)
		return incoming{}, fmt.Errorf("vayu: %w", err)
	}
	q.Header = o.header.Clone()
	q.Header.Set("Authorization", "Bearer "+key)
	if c.SigningSecret != "" {
		q.Header.Set(requestSignature, c.signer.sign(c.SigningSecret, q, o.body, time.Now()))
	}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(q)
	if err == nil {
		c.pace.observe(o.route, resp.Header, time.Now())
		good := resp.StatusCode < 300 || resp.StatusCode == http.StatusNotModified
		if good && stream && timer.Stop() {
			resp.Body = &streamBody{resp.Body, cancel}
			return incoming{Response: resp}, nil
		}
		var text []byte
		text, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err == nil {
			cancel(nil)
			if !good {
				return incoming{}, newProblemError(resp, text)
			}
			return incoming{resp, text}, nil
		}
	}
	late := errors.Is(context.Cause(ctx), errLate)
	cancel(nil)
	if parent.Err() != nil {
		return incoming{}, context.Cause(parent)
	}
	return incoming{}, &TransportError{Method: o.method, Path: o.route, Err: err, late: late}
}

// streamBody is the body of a stream. Its method Close also cancels the context of the request.
type streamBody struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

// Close closes the body of the reply.
func (b *streamBody) Close() error {
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}
