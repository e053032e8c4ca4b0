package described

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"vayu/internal/config"
	"vayu/internal/config/section"
)

// request is the template of the requests for the pages of one list.
type request struct {
	url    template
	query  []parameter
	header http.Header
	pages  pages
}

// parameter is a query parameter of a request, with the template of its value.
type parameter struct {
	name  string
	value template
}

// auth is the authentication that all requests carry: a header, a query parameter, or both. The values are secrets.
type auth struct {
	header     http.Header
	query      string // name of the parameter; "" for none
	queryValue string
}

// readAuth reads the section `auth`.
func readAuth(s *section.Section) auth {
	a := auth{header: http.Header{}}
	if h := s.Section("header"); h.Present() {
		name, value := h.Required("name"), h.Required("value")
		checkHeader(h, name, value)
		a.header.Set(name, value)
	}
	if q := s.Section("query"); q.Present() {
		a.query, a.queryValue = q.Required("name"), q.Required("value")
	}
	return a
}

func checkHeader(s *section.Section, name, value string) {
	if !httpguts.ValidHeaderFieldName(name) {
		s.Faultf("name", "%q is not the name of a header", name)
	}
	if !httpguts.ValidHeaderFieldValue(value) {
		s.Faultf("value", "cannot stand in a header")
	}
}

// windowFields are the fields that every template may use: the start and the end of the wanted time range.
var windowFields = []string{"from", "to"}

// readRequest reads the sections `request` and `pages`. `fields` are the fields of partitions that templates may use.
func (d *Description) readRequest(s *section.Section, a auth, fields []string) request {
	r := s.Section("request")
	out := request{header: a.header.Clone(), pages: parsePages(s.Section("pages"))}
	known := append(slices.Clone(windowFields), fields...)
	text := r.Required("url")
	r.Choice("method", http.MethodGet, http.MethodGet)
	out.url = parseTemplate(r, "url", text, known)
	d.checkURL(r, text)
	query := r.Section("query")
	for _, e := range query.Entries() {
		out.query = append(out.query, parameter{e.Name, parseTemplate(query, e.Name, e.Text, known)})
	}
	if a.query != "" {
		out.query = append(out.query, parameter{a.query, template{{text: a.queryValue}}})
	}
	headers := r.Section("headers")
	for _, e := range headers.Entries() {
		checkHeader(headers, e.Name, e.Text)
		out.header.Set(e.Name, e.Text)
	}
	return out
}

// checkURL checks the URL of a request. Its host must not contain a field. The values of fields come from replies, and
// a reply must not choose the host.
func (d *Description) checkURL(s *section.Section, text string) {
	if text == "" {
		return
	}
	u, err := url.Parse(fieldPattern.ReplaceAllString(text, "x"))
	_, after, _ := strings.Cut(text, "://")
	host, _, _ := strings.Cut(after, "/")
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		s.Faultf("url", "must be a URL such as https://api.example.com/v1/readings")
	case strings.Contains(host, "{"):
		s.Faultf("url", "must have no field in its host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		s.Faultf("url", "must have no user, no query and no fragment; request.query has the query")
	case u.Scheme == "http" && !d.local:
		s.Faultf("url", "must begin with https://; local: true allows unencrypted requests to a device in the local network")
	}
}

// template is a text with fields such as {sensor}.
type template []piece

type piece struct{ text, field string }

var fieldPattern = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)

// parseTemplate parses a text with fields such as {sensor}.
func parseTemplate(s *section.Section, key, text string, known []string) template {
	var t template
	at := 0
	for _, m := range fieldPattern.FindAllStringSubmatchIndex(text, -1) {
		field := text[m[2]:m[3]]
		if !slices.Contains(known, field) {
			s.Faultf(key, "the field {%s} %w", field, config.UnknownKey(field, known))
		}
		t = append(t, piece{text: text[at:m[0]]}, piece{field: field})
		at = m[1]
	}
	t = append(t, piece{text: text[at:]})
	for _, p := range t {
		if strings.ContainsAny(p.text, "{}") {
			s.Faultf(key, "a brace begins or ends a field, as in {from}")
		}
	}
	return t
}

// expand returns the text with the values of the fields. The function `escape` encodes each value.
func (t template) expand(fields map[string]string, escape func(string) string) string {
	var out strings.Builder
	for _, p := range t {
		if p.field == "" {
			out.WriteString(p.text)
		} else {
			out.WriteString(escape(fields[p.field]))
		}
	}
	return out.String()
}

// address returns the URL of a page; `page` has its query parameters. The URL may contain a key, so never log it.
func (r *request) address(fields map[string]string, page map[string]string) string {
	q := url.Values{}
	for _, p := range r.query {
		q.Set(p.name, p.value.expand(fields, func(s string) string { return s }))
	}
	for name, value := range page {
		q.Set(name, value)
	}
	address := r.url.expand(fields, url.PathEscape)
	if len(q) > 0 {
		address += "?" + q.Encode()
	}
	return address
}

// uses reports whether the URL or the query of the request contains a field.
func (r *request) uses(field string) bool {
	for _, p := range r.url {
		if p.field == field {
			return true
		}
	}
	return slices.ContainsFunc(r.query, func(p parameter) bool {
		return slices.ContainsFunc(p.value, func(one piece) bool { return one.field == field })
	})
}

// describe returns the host and the path of the URL for errors. It omits the values of fields.
func (r *request) describe() string {
	u := r.url.expand(map[string]string{}, func(string) string { return "…" })
	if parsed, err := url.Parse(u); err == nil {
		return fmt.Sprintf("%s%s", parsed.Host, parsed.Path)
	}
	return "the API"
}
