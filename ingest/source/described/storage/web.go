package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"

	"golang.org/x/net/html"

	"vayu/ingest"
	"vayu/ingest/fetch"
)

// Web is a web server with files at known URLs, or with pages that link to files.
type Web struct {
	Client Client
	Header http.Header
	// Query has parameters that every request gets, such as a key.
	Query url.Values
	Clean func(string) string // removes secrets from a text
	Limit int64               // largest size of a file in bytes
	// Index means that List gets the address of a page with links to files, and not the address of a file.
	Index bool
}

// mostLinks is the largest number of links on a page. It bounds the memory.
const mostLinks = 200_000

// List implements [Storage]. The address is the URL of a file, which List passes to `visit` without a request, or the
// URL of a page with links to files. If the page does not exist, there are no files.
func (w *Web) List(ctx context.Context, address string, visit func(Object) error) error {
	base, err := url.Parse(address)
	if err != nil {
		return errors.New("the URL is invalid") // err quotes the URL, which may contain a key
	}
	if !w.Index {
		return visit(w.object(base))
	}
	reply, err := w.Client.Get(ctx, fetch.Request{URL: w.keyed(base), Header: w.Header, Clean: w.Clean, Page: true})
	if missing(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the index: %w", err)
	}
	seen := make(map[string]bool)
	for _, link := range links(reply.Body) {
		at, err := base.Parse(link)
		if err != nil || at.Host != base.Host || at.Scheme != base.Scheme || strings.HasSuffix(at.Path, "/") {
			continue
		}
		o := w.object(at)
		if seen[o.Path] {
			continue
		}
		if seen[o.Path] = true; len(seen) > mostLinks {
			return ingest.BadReplyf("the index has more than %d links", mostLinks)
		}
		if err := visit(o); err != nil {
			return err
		}
	}
	return nil
}

// object returns the object at a URL. Its Path omits the query and the user, because these may be secret.
func (w *Web) object(u *url.URL) Object {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return Object{Path: shown.String(), address: w.keyed(u)}
}

// keyed adds the parameters in w.Query to a URL. The result may contain a key, so it must not be logged.
func (w *Web) keyed(u *url.URL) string {
	if len(w.Query) == 0 {
		return u.String()
	}
	with := *u
	query := u.Query()
	maps.Copy(query, w.Query)
	with.RawQuery = query.Encode()
	return with.String()
}

// links returns the targets of the links on an HTML page. If the page is not HTML, each of its lines is a target.
func links(page []byte) []string {
	var all []string
	if !fetch.IsHTML(page) && !bytes.Contains(page, []byte("<a ")) && !bytes.Contains(page, []byte("<A ")) {
		for line := range strings.Lines(string(page)) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, line)
			}
		}
		return all
	}
	tokens := html.NewTokenizer(bytes.NewReader(page))
	for tokens.Next() != html.ErrorToken {
		token := tokens.Token()
		if token.Type != html.StartTagToken && token.Type != html.SelfClosingTagToken || token.Data != "a" {
			continue
		}
		for _, a := range token.Attr {
			if a.Key == "href" {
				all = append(all, a.Val)
			}
		}
	}
	return all
}

// Open implements [Storage]. The version of a file consists of its HTTP validators (ETag and Last-Modified).
func (w *Web) Open(ctx context.Context, o Object, known string) (*Local, error) {
	request := fetch.Request{URL: o.address, Header: w.Header, Clean: w.Clean}
	request.Known.ETag, request.Known.LastModified, _ = strings.Cut(known, "\n")
	modified := false
	local, err := download(func(f *os.File) (string, error) {
		var reply *fetch.Reply
		var err error
		if reply, modified, err = w.Client.Download(ctx, request, f, w.Limit); err != nil {
			return "", err
		}
		if reply.Validators == (fetch.Validators{}) {
			return "", nil
		}
		return reply.Validators.ETag + "\n" + reply.Validators.LastModified, nil
	})
	switch {
	case missing(err):
		return nil, ErrMissing
	case err != nil:
		return nil, err
	case !modified:
		local.Close()
		return nil, ErrUnchanged
	}
	return local, nil
}

// missing reports whether an error has the HTTP status 404 or 410: the file does not exist.
func missing(err error) bool {
	failed, ok := errors.AsType[*fetch.StatusError](err)
	return ok && (failed.Status == http.StatusNotFound || failed.Status == http.StatusGone)
}
