// Package apidoc shows the contract of the HTTP API, schema.OpenAPI, to
// programs at /openapi.json and to people at /docs. Both are made once, and need
// nothing from anywhere else.
package apidoc

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"vayu/internal/api"
	"vayu/schema"
)

// New makes the handlers of /openapi.json and /docs, by path. They need no key:
// hand them to api.Config.Open. They answer GET and HEAD, whatever the method:
// refusing the others is the router's part.
func New() (map[string]http.Handler, error) {
	document, err := Document()
	if err != nil {
		return nil, err
	}
	tree, err := bundle(schema.OpenAPI)
	if err != nil {
		return nil, err
	}
	html, policy, err := render(tree)
	if err != nil {
		return nil, err
	}
	program, err := newStatic(document, http.Header{"Content-Type": {"application/json"}})
	if err != nil {
		return nil, err
	}
	people, err := newStatic(html, http.Header{
		"Content-Type":               {"text/html; charset=utf-8"},
		"Content-Security-Policy":    {policy},
		"Referrer-Policy":            {"no-referrer"},
		"Cross-Origin-Opener-Policy": {"same-origin"},
	})
	if err != nil {
		return nil, err
	}
	return map[string]http.Handler{"/openapi.json": program, "/docs": people}, nil
}

// static is a file in memory, plain and compressed.
type static struct {
	header      http.Header
	plain, gzip []byte
	etag        string // without quotes
}

func newStatic(body []byte, header http.Header) (*static, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compressing a page: %w", err)
	}
	if _, err := z.Write(body); err != nil {
		return nil, fmt.Errorf("compressing a page: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("compressing a page: %w", err)
	}
	header.Set("Cache-Control", "no-cache") // keep it, and ask whether it is still the same
	header.Set("Vary", "Accept-Encoding")
	header.Set("X-Content-Type-Options", "nosniff")
	return &static{header: header, plain: body, gzip: b.Bytes(), etag: strings.Trim(api.ETag(body), `"`)}, nil
}

// ServeHTTP implements http.Handler.
func (s *static) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	maps.Copy(h, s.header)
	body, tag := s.plain, s.etag
	if takesGzip(r.Header.Values("Accept-Encoding")) {
		body, tag = s.gzip, s.etag+"-gzip"
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", `"`+tag+`"`)
	if s.has(r.Header.Values("If-None-Match")) {
		h.Del("Content-Type")
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that went away is its own business
	}
}

// has reports whether the client has the file in either form.
func (s *static) has(headers []string) bool {
	for _, header := range headers {
		for tag := range strings.SplitSeq(header, ",") {
			tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
			if tag == "*" || strings.TrimSuffix(strings.Trim(tag, `"`), "-gzip") == s.etag {
				return true
			}
		}
	}
	return false
}

// takesGzip reports whether gzip is among the encodings and not refused by a
// weight of zero.
func takesGzip(headers []string) bool {
	for _, header := range headers {
		for item := range strings.SplitSeq(header, ",") {
			name, params, _ := strings.Cut(item, ";")
			if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
				continue
			}
			_, weight, stated := strings.Cut(params, "q=")
			q, err := strconv.ParseFloat(strings.TrimSpace(weight), 64)
			return !stated || err == nil && q > 0
		}
	}
	return false
}
