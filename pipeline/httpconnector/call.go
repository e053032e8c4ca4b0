package httpconnector

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"vayu/internal/config/section"
	"vayu/pipeline/httpconnector/answer"
	"vayu/pipeline/httpconnector/template"
)

const (
	// defaultReply is the default limit of an answer. An order's answer has some hundred bytes.
	defaultReply = 64 << 10
	// mostReply is the largest limit that a description can set, for lists such as plans.
	mostReply = 8 << 20
)

// call is the description of one call.
type call struct {
	method      string
	path        template.Template
	query       []template.Param
	headers     []template.Param
	body        *template.Body // nil for none
	isForm      bool
	maxReply    int // bytes of the answer
	answer      answer.Reader
	separate    bool     // see CallShape.Separate
	identifiers []string // fields that identify the subject, such as an order; nil for no subject
}

// reservedHeaders are set by net/http, or control the connection.
var reservedHeaders = []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Accept-Encoding", "Trailer", "Upgrade", "Expect", "Te"}

var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

func readCall(s *section.Section, shape CallShape) *call {
	c := &call{
		method:   s.Choice("method", http.MethodPost, methods...),
		query:    template.ReadParams(s, "query", shape.Fields),
		headers:  template.ReadParams(s, "headers", shape.Fields),
		separate: shape.Separate,
		isForm:   s.Bool("form", false),
		maxReply: s.Int("max-reply", defaultReply, 1, mostReply),
	}
	c.path = readPath(s, shape.Fields)
	for _, h := range c.headers {
		checkHeaderName(s.Section("headers"), h.Name, h.Name)
	}
	c.body = template.ReadBody(s, "body", shape.Fields)
	c.checkForm(s)
	c.readIdentifiers(s, shape.Identifiers)
	c.answer = answer.NewCallReader(s, shape.Answer, shape.List)
	return c
}

func (c *call) checkForm(s *section.Section) {
	switch {
	case c.body == nil:
		if c.isForm {
			s.Faultf("form", "there is no body")
		}
	case c.method == http.MethodGet:
		s.Faultf("body", "a GET has none")
	case c.isForm && !c.body.IsFlat():
		s.Faultf("body", "of a form must be a mapping of single values")
	}
}

// readIdentifiers sets c.identifiers. If names is not empty, requests must hold one of them.
func (c *call) readIdentifiers(s *section.Section, names []string) {
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
func (c *call) hasField(field string) bool {
	in := func(p template.Param) bool { return p.Value.Has(field) }
	return c.path.Has(field) || slices.ContainsFunc(c.query, in) || slices.ContainsFunc(c.headers, in) || c.body != nil && c.body.Has(field)
}

// isIdentified reports whether a request with these fields identifies its subject.
func (c *call) isIdentified(fields map[string]any) bool {
	return c.identifiers == nil || slices.ContainsFunc(c.identifiers, func(name string) bool { return template.HasText(fields[name]) })
}

// readPath reads the template of a call's path. The path is appended to the path of the base URL.
func readPath(s *section.Section, fields []string) template.Template {
	t, there := template.Read(s, "path", fields)
	if !there {
		s.Required("path")
		return template.Template{}
	}
	sample := map[string]any{}
	for _, f := range fields {
		sample[f] = "1"
	}
	text, err := t.Render(sample, segment)
	u, parseErr := url.Parse("http://host" + text)
	if err != nil || parseErr != nil || !strings.HasPrefix(text, "/") || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		s.Faultf("path", "must be a path such as /orders/{reference}; parameters go to query")
	}
	return t
}

func checkHeader(s *section.Section, key, name string) {
	if name != "" {
		checkHeaderName(s, key, name)
	}
}

func checkHeaderName(s *section.Section, key, name string) {
	switch {
	case !isToken(name):
		s.Faultf(key, "is no name of a header")
	case slices.Contains(reservedHeaders, http.CanonicalHeaderKey(name)):
		s.Faultf(key, "is not to be set")
	}
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
