// Package fetch gets the replies of feeds over HTTP with the care that every
// feed needs: a bound on size, no key in any error, no redirect to another
// host or out of TLS, conditional requests, and a plain word when a web page comes in place
// of data.
package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"vayu/ingest"
)

// agent tells feeds who asks.
const userAgent = "vayu (air quality service)"

// maxRedirects is how often a feed may send us on; they all do with one.
const maxRedirects = 3

// Client gets replies. It is safe for use by several goroutines.
type Client struct {
	http  *http.Client
	limit int64
}

// New makes a client that waits at most timeout for a whole reply and reads at
// most limit bytes of it, counted after decompression.
func New(timeout time.Duration, limit int64) *Client {
	return &Client{limit: limit, http: &http.Client{Timeout: timeout, CheckRedirect: redirect}}
}

// redirect keeps to the host that was asked: the address may hold a key, and a
// portal's page about its maintenance is no data. Nor does it leave TLS: the key would
// cross the network in clear, and anybody on the way could write the reply.
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
	next.Header.Del("Referer") // it holds the address, and with it the key
	return nil
}

// Stamp is what a server said to recognise a reply by. The zero value asks for
// the reply whatever it is.
type Stamp struct{ ETag, LastModified string }

// Reply is what a server sent. Body is nil when it is the one of the stamp.
type Reply struct {
	Body  []byte
	Stamp Stamp
}

// Get asks for an address. It returns an [*ingest.BatchError] for a reply that
// is too large, empty or a web page, and another error for any status but 200
// and 304. No error holds the address's query.
func (c *Client) Get(ctx context.Context, address string, known Stamp) (*Reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("asking the feed: its URL cannot be read") // the cause quotes the URL, key and all
	}
	req.Header.Set("User-Agent", userAgent)
	if known.ETag != "" {
		req.Header.Set("If-None-Match", known.ETag)
	}
	if known.LastModified != "" {
		req.Header.Set("If-Modified-Since", known.LastModified)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", safeURL(req.URL), redactError(ctx, err))
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotModified && known != (Stamp{}) {
		return &Reply{Stamp: known}, nil
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("asking %s: the server answered %d %s", safeURL(req.URL), resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading the reply of %s: %w", safeURL(req.URL), redactError(ctx, err))
	}
	switch {
	case int64(len(body)) > c.limit:
		return nil, &ingest.BatchError{Reason: ingest.BadReply, Detail: fmt.Sprintf("the reply exceeds %d bytes", c.limit)}
	case len(bytes.TrimSpace(body)) == 0:
		return nil, &ingest.BatchError{Reason: ingest.BadReply, Detail: "the reply is empty"}
	case IsHTML(body):
		return nil, &ingest.BatchError{Reason: ingest.BadReply, Detail: "a web page (HTML) in place of data"}
	}
	return &Reply{body, Stamp{resp.Header.Get("ETag"), resp.Header.Get("Last-Modified")}}, nil
}

// place is an address without its query and user, for errors.
func safeURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).Redacted()
}

// bare takes the address, and with it the key, out of an error of net/http.
// The end of ctx is told from the client's own time-out.
func redactError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		if wrapped.Timeout() {
			return errors.New("no complete reply in time")
		}
		return wrapped.Err
	}
	return err
}

// IsHTML reports whether a reply begins like a web page.
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
