package httpapitest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Check fails the test if a reply violates the contract, schema.OpenAPI, in its status, headers, type or body.
// The parameter `body` has the bytes as received, compressed or not. A request with a path that is not in the
// contract must get 404. A request with a method that is not in the contract must get 405.
//
// Most tests need not call Check: wrap the handler with [Checked], or the client's transport with [Transport].
func Check(tb testing.TB, req *http.Request, resp *http.Response, body []byte) {
	tb.Helper()
	for _, fault := range faults(req, resp, body) {
		tb.Errorf("%s %s, %d: %s", req.Method, req.URL, resp.StatusCode, fault)
	}
}

// CheckRefusal fails the test if the headers or the body of an error reply violate the contract for the reply's status.
// Unlike Check, it needs no valid request. `method` is the request's method, as far as it could be parsed.
func CheckRefusal(tb testing.TB, method string, resp *http.Response, body []byte) {
	tb.Helper()
	for _, fault := range refusalFaults(method, resp, body) {
		tb.Errorf("%d: %s", resp.StatusCode, fault)
	}
}

func refusalFaults(method string, resp *http.Response, body []byte) []string {
	d, err := contract()
	if err != nil {
		return []string{err.Error()}
	}
	status := resp.StatusCode
	if status == http.StatusRequestTimeout { // the contract describes 408 like 400
		status = http.StatusBadRequest
	}
	want := d.refusals[strconv.Itoa(status)]
	if want == nil {
		return []string{"the status is not in the contract"}
	}
	return append(want.checkHeaders(resp.Header), want.checkBody(method, resp, body)...)
}

// faults returns the violations of the contract in a reply; none if the reply conforms.
func faults(req *http.Request, resp *http.Response, body []byte) []string {
	d, err := contract()
	if err != nil {
		return []string{err.Error()}
	}
	want, found := d.reply(req, resp.StatusCode)
	if want == nil {
		return found
	}
	found = append(found, want.checkHeaders(resp.Header)...)
	found = append(found, d.checkLocation(resp.Header)...)
	return append(found, want.checkBody(req.Method, resp, body)...)
}

// checkLocation returns a fault for each Location header that is not the path of a GET operation.
func (d *document) checkLocation(got http.Header) []string {
	var found []string
	for _, text := range got["Location"] {
		to, err := url.Parse(text)
		if err != nil || to.Host != "" {
			found = append(found, fmt.Sprintf("the Location %q is not a path", text))
		} else if d.operations[d.template(to.Path)][http.MethodGet] == nil {
			found = append(found, fmt.Sprintf("the Location %q has no GET operation", text))
		}
	}
	return found
}

// reply returns the contract's part on a reply to req with this status, nil if there is none, and violations.
func (d *document) reply(req *http.Request, status int) (*reply, []string) {
	template, text := d.template(pathOf(req.URL)), strconv.Itoa(status)
	if template == "" {
		if status != http.StatusNotFound {
			return nil, []string{"a path that is not in the contract must be 404"}
		}
		return d.refusals[text], nil
	}
	methods := d.operations[template]
	o := methods[req.Method]
	if o == nil && req.Method == http.MethodHead {
		o = methods[http.MethodGet]
	}
	switch {
	case o == nil && status != http.StatusMethodNotAllowed:
		return nil, []string{"a method that is not in the contract must be 405"}
	case o == nil:
		return d.refusals[text], nil
	case o.Responses[text] == nil:
		return nil, []string{"the status is not in the contract of " + template}
	}
	var found []string
	if status < http.StatusMultipleChoices {
		for name := range req.URL.Query() {
			if !o.hasQuery(name) {
				found = append(found, fmt.Sprintf("the parameter %q is accepted, but is not in the contract of %s", name, template))
			}
		}
	}
	return o.Responses[text], found
}

func (o *operation) hasQuery(name string) bool {
	return slices.ContainsFunc(o.Parameters, func(p *parameter) bool { return p.In == "query" && p.Name == name })
}

// pathOf returns the path of a request's URL. The URL may also be //host/path or http://host/path.
func pathOf(u *url.URL) string {
	if u.Opaque == "" {
		return u.Path
	}
	_, rest, _ := strings.Cut(u.Opaque, "//")
	_, rest, _ = strings.Cut(rest, "/")
	if name, err := url.PathUnescape(rest); err == nil {
		rest = name
	}
	return "/" + rest
}

// plainHeaders are standard HTTP headers that replies may have although the contract does not list them.
var plainHeaders = []string{
	"Cache-Control", "Connection", "Content-Encoding", "Content-Length", "Content-Security-Policy", "Content-Type",
	"Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Permissions-Policy", "Date", "Referrer-Policy", "Strict-Transport-Security", "Transfer-Encoding", "Vary", "X-Content-Type-Options",
}

func (r *reply) checkHeaders(got http.Header) []string {
	all := http.Header{}
	for name, values := range got {
		name = http.CanonicalHeaderKey(name) // some handlers write names in other than canonical case
		all[name] = append(all[name], values...)
	}
	var found []string
	for name, values := range all {
		h := r.Headers[name]
		switch {
		case h == nil && !slices.Contains(plainHeaders, name):
			found = append(found, fmt.Sprintf("the header %s is not in the contract", name))
		case len(values) != 1 && name != "Vary": // Vary is a list that may have two lines, as for promhttp
			found = append(found, fmt.Sprintf("the header %s has %d lines", name, len(values)))
		case h != nil:
			if err := h.compiled.Validate(h.value(values[0])); err != nil {
				found = append(found, fmt.Sprintf("the header %s: %q: %s", name, values[0], explain(err)))
			}
		}
	}
	for name, h := range r.Headers {
		if h.Required && len(all[name]) == 0 {
			found = append(found, fmt.Sprintf("the header %s is missing", name))
		}
	}
	slices.Sort(found)
	return found
}

func (r *reply) checkBody(method string, resp *http.Response, body []byte) []string {
	contentType := resp.Header.Get("Content-Type")
	if len(r.Content) == 0 {
		if len(body) > 0 || contentType != "" {
			return []string{fmt.Sprintf("the body has %d bytes and the type %q, want none", len(body), contentType)}
		}
		return nil
	}
	name, params, err := mime.ParseMediaType(contentType)
	want := r.Content[name]
	switch charset := params["charset"]; {
	case err != nil || want == nil:
		return []string{fmt.Sprintf("the type %q is not in the contract", contentType)}
	case charset != "" && !strings.EqualFold(charset, "utf-8"):
		return []string{fmt.Sprintf("the charset of %q is not UTF-8", contentType)}
	case method == http.MethodHead && len(body) > 0:
		return []string{"the reply to HEAD has a body"}
	case method == http.MethodHead, resp.StatusCode == http.StatusPartialContent: // the schema describes a whole body, not a part
		return nil
	}
	plain, err := unpack(resp.Header.Get("Content-Encoding"), body)
	if err != nil {
		return []string{err.Error()}
	}
	switch name {
	case "application/json", "application/geo+json":
		return checkJSON(want.compiled, plain)
	case "application/x-ndjson": // the schema describes one line of the body
		var found []string
		for line := range bytes.Lines(plain) {
			found = append(found, checkJSON(want.compiled, line)...)
		}
		return found
	}
	if name == eventStream {
		return checkMessages(want.compiled, plain)
	}
	if err := want.compiled.Validate(string(plain)); err != nil {
		return []string{fmt.Sprintf("the body %.1000s\n%s", plain, explain(err))}
	}
	return nil
}

func checkJSON(s *jsonschema.Schema, text []byte) []string {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return []string{fmt.Sprintf("the body is not JSON: %v: %.200s", err, text)}
	}
	if err := s.Validate(v); err != nil {
		return []string{fmt.Sprintf("the body %.1000s\n%s", text, explain(err))}
	}
	return nil
}

func unpack(encoding string, body []byte) (plain []byte, err error) {
	var r io.Reader = bytes.NewReader(body)
	switch encoding {
	case "":
	case "br":
		r = brotli.NewReader(r)
	case "gzip":
		if r, err = gzip.NewReader(r); err != nil {
			return nil, fmt.Errorf("the body is not gzip: %w", err)
		}
	case "zstd":
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, fmt.Errorf("the body is not zstd: %w", err)
		}
		defer z.Close()
		r = z
	default:
		return nil, fmt.Errorf("the encoding %q is not in the contract", encoding)
	}
	if plain, err = io.ReadAll(r); err != nil {
		err = fmt.Errorf("unpacking the body: %w", err)
	}
	return plain, err
}

// explain returns the text of a validation error without the URL of the schema, which is always the same.
func explain(err error) string {
	if e, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return strings.ReplaceAll(strings.TrimSpace(e.Error()), documentURL, "")
	}
	return err.Error()
}
