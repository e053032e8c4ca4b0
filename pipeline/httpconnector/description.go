package httpconnector

import (
	"crypto/x509"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"vayu/internal/config"
	"vayu/internal/config/section"
	"vayu/pipeline/httpconnector/answer"
	"vayu/pipeline/httpconnector/template"
	"vayu/schema"
)

// These are the limits and defaults of numbers in a description.
const (
	defaultTimeout     = 10 * time.Second // after that, a later status enquiry is better than waiting
	leastTimeout       = 100 * time.Millisecond
	mostTimeout        = 2 * time.Minute
	defaultConcurrency = 16 // a thousand calls a minute, if each takes a second
	mostConcurrency    = 1000
	defaultFailures    = 5 // consecutive failures that open the breaker
	mostFailures       = 1000
	defaultOpen        = 30 * time.Second // until the breaker permits a probe
	leastOpen          = time.Second
	mostOpen           = time.Hour
	// defaultResend exceeds the time that a request can be in transit. Usual proxies hold a request
	// for a minute or less.
	defaultResend = 2 * time.Minute
	leastResend   = time.Second
	mostResend    = 24 * time.Hour
)

// Description defines the calls of a provider. It is read from a file and immutable.
type Description struct {
	// Name is the name of the provider: lower-case letters, digits and hyphens.
	Name string
	// Timeout is the limit of one call, from the name lookup to the last byte of the answer.
	Timeout time.Duration
	// Concurrency limits concurrent calls. Separate calls (see CallShape.Separate) have their own limit of the same
	// size.
	Concurrency int
	// [Description.ReadPolicy] sets World and ResendAfter. An order that the provider reports as unknown is sent again
	// when ResendAfter has passed since it was last sent. ResendAfter is at least Timeout.
	World       schema.World
	ResendAfter time.Duration

	base      *url.URL
	roots     *x509.CertPool // nil for the system's authorities
	keepAlive bool
	failures  int
	open      time.Duration
	auth      auth
	calls     map[string]*call
	callback  *callback // nil for none
}

// Source is an unparsed description, with access to the variables and files that it names.
type Source struct {
	// File is the path. Faults quote it, and a relative ca-file is looked up in its folder.
	File string
	Text []byte
	// Env looks up an environment variable, as os.LookupEnv does.
	Env func(string) (string, bool)
	// ReadFile reads a file named by the description, as os.ReadFile does.
	ReadFile func(string) ([]byte, error)
}

// Open reads a description from disk, with the environment of the process, and returns its client. It does not connect.
// The error lists every fault of the file with its line. `shape` and `own` have the meaning that they have in [Parse].
func Open(file string, shape Shape, own func(root *section.Section, d *Description), o Options) (*Client, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	d, err := Parse(Source{File: file, Text: text, Env: os.LookupEnv, ReadFile: os.ReadFile}, shape, own)
	if err != nil {
		return nil, err
	}
	return New(d, o), nil
}

// Parse reads a description. The function `own` reads the caller's keys at the root of the file, and may inspect the
// rest of the description. `own` may be nil. The error is config.Problems with every fault.
func Parse(from Source, shape Shape, own func(root *section.Section, d *Description)) (*Description, error) {
	root := section.Parse(from.File, from.Text, from.Env)
	if !root.Present() {
		return nil, root.Finish()
	}
	d := &Description{
		Name:        root.Required("name"),
		Timeout:     root.Duration("timeout", defaultTimeout, leastTimeout, mostTimeout),
		Concurrency: root.Int("concurrency", defaultConcurrency, 1, mostConcurrency),
		keepAlive:   root.Bool("keep-alive", true),
		calls:       map[string]*call{},
	}
	if d.Name != "" && !namePattern.MatchString(d.Name) {
		root.Faultf("name", "must be up to 32 lower-case letters, digits and hyphens, the first a letter")
	}
	d.base = readBase(root)
	d.roots = readRoots(root, from)
	breaker := root.Section("breaker")
	d.failures = breaker.Int("failures", defaultFailures, 1, mostFailures)
	d.open = breaker.Duration("open", defaultOpen, leastOpen, mostOpen)
	d.auth = newAuth(root.Section("auth"))
	d.readCalls(root.Section("calls"), shape)
	if c := root.Section("callback"); c.Present() {
		d.callback = newCallback(c, shape.Callback)
	}
	if own != nil {
		own(root, d)
	}
	if err := root.Finish(); err != nil {
		return nil, err
	}
	return d, nil
}

// ReadPolicy reads the keys "world" and "resend-after" of the caller's section.
func (d *Description) ReadPolicy(s *section.Section) {
	d.World = schema.WorldOf(s.Choice("world", schema.Live.String(), schema.Live.String(), schema.Sandbox.String()))
	d.ResendAfter = s.Duration("resend-after", max(defaultResend, d.Timeout), leastResend, mostResend)
	if d.ResendAfter < d.Timeout {
		s.Faultf("resend-after", "must not be less than timeout: a call in flight must not be repeated")
	}
}

// HasCall reports whether the description of the provider defines a call.
func (d *Description) HasCall(call string) bool { return d.calls[call] != nil }

// HasCallback reports whether the description defines callbacks.
func (d *Description) HasCallback() bool { return d.callback != nil }

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

func readBase(s *section.Section) *url.URL {
	text := s.Required("url")
	insecure := s.Bool("insecure-http", false)
	if text == "" {
		return &url.URL{}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "" || u.Scheme != "https" && u.Scheme != "http":
		s.Faultf("url", "must be a URL such as https://api.example.com/v1")
		return &url.URL{}
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		s.Faultf("url", "must have no user, no query and no fragment")
	case u.Scheme == "http" && !insecure && !config.Local(u.Hostname()):
		s.Faultf("url", "must begin with https:// unless it leads to this machine; insecure-http: true allows unencrypted requests")
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u
}

// readRoots reads the certificate authorities from the file that the key ca-file names. It returns nil without the key.
func readRoots(s *section.Section, from Source) *x509.CertPool {
	file := s.Text("ca-file")
	if file == "" {
		return nil
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(from.File), file)
	}
	text, err := from.ReadFile(file)
	if err != nil {
		s.Faultf("ca-file", "cannot be read: %w", reason(err))
		return nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		s.Faultf("ca-file", "contains no certificate in PEM form")
	}
	return pool
}

// reason returns a file system error without the path of the file, which may be secret.
func reason(err error) error {
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return at.Err
	}
	return err
}

// readCalls reads every call of the shape. It leaves other keys unread, so that they are reported as unknown.
func (d *Description) readCalls(s *section.Section, shape Shape) {
	for _, name := range slices.Sorted(maps.Keys(shape.Calls)) {
		c := s.Section(name)
		switch {
		case c.Present():
			d.calls[name] = readCall(c, shape.Calls[name])
		case shape.Calls[name].Required:
			s.Faultf(name, "is missing")
		}
	}
}

const (
	// defaultReply is the default limit of an answer. The answer about an order has a few hundred bytes.
	defaultReply = 64 << 10
	// mostReply is the largest limit that a description can set, for lists such as plans.
	mostReply = 8 << 20
)

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
		checkHeader(s.Section("headers"), h.Name, h.Name)
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

// readIdentifiers sets c.identifiers to those of the given names that the call's templates use. If the templates use
// none of the names, it reports a fault.
func (c *call) readIdentifiers(s *section.Section, names []string) {
	braced := make([]string, len(names))
	for i, name := range names {
		if braced[i] = "{" + name + "}"; c.hasField(name) {
			c.identifiers = append(c.identifiers, name)
		}
	}
	if len(names) > 0 && c.identifiers == nil {
		s.Faultf("", "has no %s in path, query, headers or body, which would identify its subject", strings.Join(braced, " and no "))
	}
}

// hasField reports whether the requests of the call contain a field.
func (c *call) hasField(field string) bool {
	in := func(p template.Param) bool { return p.Value.Has(field) }
	return c.path.Has(field) || slices.ContainsFunc(c.query, in) || slices.ContainsFunc(c.headers, in) || c.body != nil && c.body.Has(field)
}

// isIdentified reports whether a request with these fields names its subject, such as an order.
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

// checkHeader reports a fault if a request cannot have a header with this name. It accepts an empty name.
func checkHeader(s *section.Section, key, name string) {
	switch {
	case name == "":
	case !httpguts.ValidHeaderFieldName(name):
		s.Faultf(key, "is not the name of a header")
	case slices.Contains(reservedHeaders, http.CanonicalHeaderKey(name)):
		s.Faultf(key, "is not to be set")
	}
}

// Shape is what the caller requires and permits in a description: the calls, the fields of each
// call, and the fields of answers and callbacks.
type Shape struct {
	Calls map[string]CallShape
	// Callback is the content of callbacks; nil if there are none.
	Callback answer.Shape
}

// CallShape defines one call.
type CallShape struct {
	Required bool     // every description must have it
	Fields   []string // usable in templates
	// Identifiers are the fields that identify the subject of a call, such as an order. Each request must contain at
	// least one that is not empty. They are nil for a call without a subject.
	Identifiers []string
	Answer      answer.Shape
	List        bool // the answer is a list of items, and Answer has the fields of an item
	// Separate is set for calls of low priority. These have slots and a breaker of their own, and block no other calls.
	Separate bool
}
