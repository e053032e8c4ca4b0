package httpconnector

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"vayu/internal/config"
)

const (
	// defaultReply is the default limit of an answer in bytes. The answer about an order has some hundred.
	defaultReply = 64 << 10
	// mostReply is the largest limit that a description can set, for lists such as plans.
	mostReply = 8 << 20
)

// call is the description of one call.
type call struct {
	method      string
	path        template
	query       []named
	headers     []named
	body        *tree // nil for none
	isForm      bool
	maxReply    int // bytes of the answer
	answer      answerReader
	separate    bool     // see CallShape.Separate
	identifiers []string // fields that identify the subject, such as an order; nil for no subject
}

// reservedHeaders are set by net/http, or control the connection.
var reservedHeaders = []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Accept-Encoding", "Trailer", "Upgrade", "Expect", "Te"}

var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// call reads one call.
func (s *Section) call(shape CallShape) *call {
	c := &call{
		method:   s.Choice("method", http.MethodPost, methods...),
		query:    s.named("query", shape.Fields),
		headers:  s.named("headers", shape.Fields),
		separate: shape.Separate,
		isForm:   s.Bool("form", false),
		maxReply: s.Int("max-reply", defaultReply, 1, mostReply),
	}
	c.path = s.path(shape.Fields)
	for _, h := range c.headers {
		if err := headerFault(h.name); err != nil {
			s.file.fault(h.line, config.JoinKey(s.key, "headers."+h.name), err)
		}
	}
	if n := s.node("body"); n != nil {
		t := s.file.tree(n, config.JoinKey(s.key, "body"), shape.Fields)
		c.body = &t
		if n.Kind == yaml.ScalarNode {
			s.Faultf("body", "must be a mapping or a list")
		}
	}
	s.checkForm(c)
	s.checkIdentifiers(c, shape.Identifiers)
	c.answer = s.reading(shape.Answer)
	c.answer.readStatuses(s, shape.Answer)
	if shape.List {
		c.answer.items = s.place("items")
		if c.answer.items == "" {
			s.Faultf("items", "is missing: the path of the list in the answer; @this if the answer is the list")
		}
	}
	return c
}

func (s *Section) checkForm(c *call) {
	switch {
	case c.body == nil:
		if c.isForm {
			s.Faultf("form", "there is no body")
		}
	case c.method == http.MethodGet:
		s.Faultf("body", "a GET has none")
	case c.isForm && (c.body.kind != yaml.MappingNode || slices.ContainsFunc(c.body.kids, func(t tree) bool { return t.kind != yaml.ScalarNode })):
		s.Faultf("body", "of a form must be a mapping of single values")
	}
}

// checkIdentifiers requires that requests hold a field that identifies their subject.
func (s *Section) checkIdentifiers(c *call, names []string) {
	braced := make([]string, len(names))
	for i, name := range names {
		if braced[i] = "{" + name + "}"; c.hasField(name) {
			c.identifiers = append(c.identifiers, name)
		}
	}
	if len(names) > 0 && c.identifiers == nil {
		s.Faultf("", "holds no %s in path, query, headers or body: nothing else identifies its subject", strings.Join(braced, " and no "))
	}
}

// hasField reports whether requests contain a field.
func (s *call) hasField(field string) bool {
	in := func(n named) bool { return n.value.has(field) }
	return s.path.has(field) || slices.ContainsFunc(s.query, in) || slices.ContainsFunc(s.headers, in) || s.body != nil && s.body.has(field)
}

// isIdentified reports whether a request with these fields identifies its subject.
func (s *call) isIdentified(fields map[string]any) bool {
	return s.identifiers == nil || slices.ContainsFunc(s.identifiers, func(name string) bool {
		text, err := textOf(fields[name], "")
		return err == nil && text != ""
	})
}

// path reads the template of a call's path. The path is appended to that of the base URL.
func (s *Section) path(fields []string) template {
	n := s.node("path")
	if n == nil || n.Kind != yaml.ScalarNode {
		s.Required("path")
		return template{}
	}
	t := s.file.template(n.Value, n.Line, config.JoinKey(s.key, "path"), fields)
	sample := map[string]any{}
	for _, f := range fields {
		sample[f] = "1"
	}
	text, err := t.render(sample, segment)
	u, parseErr := url.Parse("http://host" + text)
	if err != nil || parseErr != nil || !strings.HasPrefix(text, "/") || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		s.Faultf("path", "must be a path such as /orders/{reference}; parameters go to query")
	}
	return t
}

// checkHeader checks the header name under a key, if there is one.
func (s *Section) checkHeader(key, name string) {
	if name == "" {
		return
	}
	if err := headerFault(name); err != nil {
		s.Faultf(key, "%w", err)
	}
}

func headerFault(name string) error {
	switch {
	case !isToken(name):
		return errors.New("is no name of a header")
	case slices.Contains(reservedHeaders, http.CanonicalHeaderKey(name)):
		return errors.New("is not to be set")
	}
	return nil
}

// isToken reports whether a text is a token by RFC 9110, 5.6.2.
func isToken(name string) bool {
	for _, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return name != ""
}

// place returns the text of a key that is a path into JSON answers; empty if the key is absent.
func (s *Section) place(key string) string {
	text := s.Text(key)
	if strings.ContainsAny(text, "\n\r\x00") || len(text) > 200 {
		s.Faultf(key, "is no path")
	}
	return text
}

// status parses an HTTP status that can carry an outcome. 5xx cannot, because the outcome of
// the request is unknown then. 3xx cannot, because redirects are not followed.
func status(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 200 || n > 499 || n/100 == 3 {
		return 0, fmt.Errorf("%q is no HTTP status of 200–299 or 400–499: any other leaves the outcome of a request unknown", clip(text))
	}
	return n, nil
}

// clip shortens a quoted text.
func clip(text string) string {
	if len(text) > 60 {
		return text[:60] + "…"
	}
	return text
}
