// Package fetch downloads feeds over HTTP. It limits the size of replies and sends conditional requests. Its errors
// contain no API keys. It rejects redirects to other hosts or from HTTPS to HTTP, and web pages in place of data.
package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"code.dny.dev/ssrf"

	"vayu/ingest"
)

// userAgent identifies the service to feeds.
const userAgent = "vayu (air quality service)"

// maxRedirects is the largest number of redirects. The known feeds redirect at most once.
const maxRedirects = 3

// errorBody is the number of bytes that a client reads of a reply with an error status.
const errorBody = 2 << 10

// Client downloads replies. It is safe for concurrent use.
type Client struct {
	http  *http.Client
	limit int64
}

// New returns a client. `timeout` limits the time of a request including its whole reply. `limit` is the largest size
// of a reply in bytes, after decompression. It does not apply to [Client.Download].
func New(timeout time.Duration, limit int64) *Client {
	return &Client{limit: limit, http: &http.Client{Timeout: timeout, CheckRedirect: redirect}}
}

// internalHosts are addresses of internal services in the public range. An Azure host serves the metadata of its
// machines at 168.63.129.16.
var internalHosts = []netip.Prefix{netip.MustParsePrefix("168.63.129.16/32")}

// NewPublic returns a client for addresses of the public internet, with the limits of [New]. The client refuses
// connections to private and reserved addresses. It checks the IP address of each connection, because DNS can change
// the address of a host. It cannot check requests through an HTTP proxy of the environment, because the proxy resolves
// the host.
func NewPublic(timeout time.Duration, limit int64) *Client {
	c := New(timeout, limit)
	direct := http.DefaultTransport.(*http.Transport).Clone()
	guard := ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(internalHosts...))
	direct.Proxy = nil
	direct.DialContext = (&net.Dialer{Timeout: timeout, Control: guard.Safe}).DialContext
	c.http.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		if proxy, err := http.ProxyFromEnvironment(r); err != nil || proxy != nil {
			return http.DefaultTransport.RoundTrip(r)
		}
		return direct.RoundTrip(r)
	})
	return c
}

// NewTo returns a client for tests in which one fake server replaces all hosts, with the limits of [New]. Every request
// goes to the server at the given host and port, over plain HTTP. The Host header is unchanged.
func NewTo(server string, timeout time.Duration, limit int64) *Client {
	c := New(timeout, limit)
	direct := http.DefaultTransport.(*http.Transport).Clone()
	direct.Proxy = nil
	c.http.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.Host, r.URL.Scheme, r.URL.Host = r.URL.Host, "http", server
		return direct.RoundTrip(r)
	})
	return c
}

// roundTrip implements [http.RoundTripper] with a function.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// redirect accepts at most maxRedirects redirects, all to the same host. Another host must not receive a key in the
// URL, and may serve a maintenance page. redirect rejects a change from HTTPS to HTTP, which would expose the key and
// allow forged replies.
func redirect(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errors.New("too many redirects")
	}
	if next.URL.Host != via[0].URL.Host {
		return fmt.Errorf("a redirect to another host, %q", next.URL.Host)
	}
	if via[len(via)-1].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return errors.New("a redirect from https to http")
	}
	next.Header.Del("Referer") // it contains the URL with the key
	return nil
}

// Validators are the HTTP validators of a reply (RFC 9110, section 8.8). A request with the zero value is
// unconditional.
type Validators struct{ ETag, LastModified string }

// Reply is a server's reply. Body is nil if the content has not changed (status 304), and after [Client.Download].
type Reply struct {
	Body       []byte
	Validators Validators
	// Header has the headers of the reply.
	Header http.Header
}

// Request is a GET request. Its header may contain a key.
type Request struct {
	URL    string
	Header http.Header
	// Known has the validators of an earlier reply, which make the request conditional. The zero value makes the
	// request unconditional.
	Known Validators
	// Clean removes secrets from the address and the reply before they reach the [ingest.Recorder] of the fetch. If
	// Clean is nil, the recorder gets the address without its query.
	Clean func(string) string
	// Page means that a web page is an acceptable reply.
	Page bool
	// Sign signs the request before it is sent. If Sign is nil, the request has no signature.
	Sign func(*http.Request) error
}

// clean removes secrets from a text if r.Clean is set.
func (r *Request) clean(text string) string {
	if r.Clean == nil {
		return text
	}
	return r.Clean(text)
}

// StatusError is the error of a reply with a status other than 200. An expected 304 is no error.
type StatusError struct {
	Status int
	Header http.Header
	Body   []byte // the beginning of the body

	address string // of the request, without the query
	message string // the beginning of the body as one line without secrets; "" for a web page
}

// Error implements error.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("fetching %s: status %d %s", e.address, e.Status, http.StatusText(e.Status))
	if e.message != "" {
		text += ": " + e.message
	}
	return text
}

// messageBytes is the number of bytes of a server's explanation that an error quotes.
const messageBytes = 200

// message returns the explanation in a reply with an error status. It returns "" for a web page. It also returns "" if
// the reply might repeat a key of the request, and r.Clean is nil, so that nothing would remove the key.
func (r *Request) message(u *url.URL, body []byte) string {
	if IsHTML(body) || r.Clean == nil && (u.RawQuery != "" || r.Header != nil || r.Sign != nil) {
		return ""
	}
	text := strings.Join(strings.Fields(strings.ToValidUTF8(r.clean(string(body)), "")), " ")
	return strings.ToValidUTF8(text[:min(len(text), messageBytes)], "")
}

// Get downloads an address. Its errors are those of [Client.Do].
func (c *Client) Get(ctx context.Context, address string, known Validators) (*Reply, error) {
	return c.Do(ctx, Request{URL: address, Known: known})
}

// Do sends a request. It returns an [*ingest.BatchError] for a reply that is too large, empty or a web page. It returns
// a [*StatusError] for any status except 200 and an expected 304. No error contains the address's query or a header of
// the request.
func (c *Client) Do(ctx context.Context, r Request) (*Reply, error) {
	var body []byte
	reply, err := c.exchange(ctx, r, func(resp *http.Response, got *received) error {
		var err error
		body, err = io.ReadAll(io.LimitReader(resp.Body, c.limit+1))
		got.body, got.size = body, int64(len(body))
		switch {
		case err != nil:
			return err
		case got.size > c.limit:
			return ingest.BadReplyf("the reply exceeds %d bytes", c.limit)
		case len(bytes.TrimSpace(body)) == 0:
			return ingest.BadReplyf("the reply is empty")
		case !r.Page && IsHTML(body):
			return errPage
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	reply.Body = body
	return reply, nil
}

// Download downloads a file to the writer `to`, with the errors of [Client.Do]. It ends with an error once it has
// written more than `limit` bytes. reply.Body is nil. `modified` is false after status 304. An empty file is no error.
func (c *Client) Download(ctx context.Context, r Request, to io.Writer, limit int64) (reply *Reply, modified bool, err error) {
	reply, err = c.exchange(ctx, r, func(resp *http.Response, got *received) error {
		modified = true
		head := &headWriter{most: headBytes}
		if ingest.RecorderOf(ctx).KeepsWhole() {
			head.most = wholeBytes
		}
		n, err := io.Copy(io.MultiWriter(to, head), io.LimitReader(resp.Body, limit+1))
		got.body, got.size, got.streamed = head.text, n, true
		switch {
		case err != nil:
			return err
		case n > limit:
			return ingest.BadReplyf("the reply exceeds %d bytes", limit)
		case IsHTML(head.text):
			return errPage
		}
		return nil
	})
	return reply, modified, err
}

// The recorder gets the first headBytes bytes of a downloaded file. If the recorder keeps whole bodies, it gets the
// first wholeBytes bytes.
const (
	headBytes  = 2 << 10
	wholeBytes = 32 << 20
)

// headWriter keeps the first bytes that are written to it. `most` is the largest number of bytes that it keeps.
type headWriter struct {
	text []byte
	most int
}

func (w *headWriter) Write(part []byte) (int, error) {
	w.text = append(w.text, part[:min(len(part), w.most-len(w.text))]...)
	return len(part), nil
}

// errPage means that the reply is a web page in place of data.
var errPage = ingest.BadReplyf("a web page (HTML) in place of data")

// exchange sends a request and records it. It calls `read` for a reply with status 200. The Body of the result is nil.
func (c *Client) exchange(ctx context.Context, r Request, read func(*http.Response, *received) error) (*Reply, error) {
	recorder := ingest.RecorderOf(ctx)
	got := received{}
	began := time.Now()
	reply, err := c.do(ctx, r, &got, read)
	exchange := ingest.Exchange{Request: r.shown(), Status: got.status, Header: got.header, Elapsed: time.Since(began)}
	if err != nil {
		exchange.Error = r.clean(err.Error())
	}
	if got.streamed {
		recorder.RecordFile(exchange, got.body, got.size, r.clean)
	} else {
		recorder.Record(exchange, got.body, r.clean)
	}
	return reply, err
}

// received is the received part of a reply. It is filled even if the request failed.
type received struct {
	status   int // 0 if no reply came
	header   http.Header
	body     []byte // for a file, only its beginning
	size     int64  // number of received bytes of the body
	streamed bool   // the body is a file
}

// shown returns the method and the address of a request without secrets.
func (r *Request) shown() string {
	if r.Clean != nil {
		return http.MethodGet + " " + r.Clean(r.URL)
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return http.MethodGet // the address may contain a key
	}
	return http.MethodGet + " " + safeURL(u)
}

// do sends a request as [Client.exchange] does, but does not record it. It fills `got` even if it returns an error.
func (c *Client) do(ctx context.Context, r Request, got *received, read func(*http.Response, *received) error) (*Reply, error) {
	known := r.Known
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
	if err != nil {
		return nil, errors.New("fetching the feed: its URL is invalid") // the cause quotes the URL with the key
	}
	if r.Header != nil {
		req.Header = r.Header.Clone()
	}
	req.Header.Set("User-Agent", userAgent)
	if known.ETag != "" {
		req.Header.Set("If-None-Match", known.ETag)
	}
	if known.LastModified != "" {
		req.Header.Set("If-Modified-Since", known.LastModified)
	}
	if r.Sign != nil {
		if err := r.Sign(req); err != nil {
			return nil, err
		}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", safeURL(req.URL), redactError(ctx, err))
	}
	defer resp.Body.Close()
	got.status, got.header = resp.StatusCode, resp.Header
	if resp.StatusCode == http.StatusNotModified && known != (Validators{}) {
		return &Reply{Validators: known, Header: resp.Header}, nil
	}
	if resp.StatusCode != http.StatusOK {
		got.body, _ = io.ReadAll(io.LimitReader(resp.Body, errorBody))
		return nil, &StatusError{Status: resp.StatusCode, Header: resp.Header, Body: got.body, address: safeURL(req.URL), message: r.message(req.URL, got.body)}
	}
	if err := read(resp, got); err != nil {
		if _, refused := errors.AsType[*ingest.BatchError](err); refused {
			return nil, err
		}
		return nil, fmt.Errorf("reading the reply of %s: %w", safeURL(req.URL), redactError(ctx, err))
	}
	return &Reply{Validators: Validators{resp.Header.Get("ETag"), resp.Header.Get("Last-Modified")}, Header: resp.Header}, nil
}

// safeURL returns an address without its query and user, which may contain secrets.
func safeURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).Redacted()
}

// redactError removes the address, which may contain the key, from an error of net/http. If ctx has ended, redactError
// returns the error of ctx, and not the client's own timeout.
func redactError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
		return errors.New("no complete reply in time")
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// WithoutSecrets returns an error whose text is that of err without secrets, which the function `clean` removes.
func WithoutSecrets(err error, clean func(string) string) error {
	if text := clean(err.Error()); text != err.Error() {
		return &cleanError{err, text}
	}
	return err
}

type cleanError struct {
	err  error
	text string
}

// Error implements error.
func (e *cleanError) Error() string { return e.text }

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *cleanError) Unwrap() error { return e.err }

// IsHTML reports whether a reply starts like a web page.
func IsHTML(body []byte) bool {
	head := bytes.TrimLeft(body[:min(len(body), 512)], "\xef\xbb\xbf \t\r\n")
	head = bytes.ToLower(head[:min(len(head), 20)])
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<body", "<script"} {
		if strings.HasPrefix(string(head), tag) {
			return true
		}
	}
	return false
}
