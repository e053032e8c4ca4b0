package httpconnector

import (
	"crypto/x509"
	"errors"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"vayu/internal/config"
	"vayu/internal/config/section"
)

// Limits and defaults of a description's numbers.
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
)

// Description defines the calls of a provider. It is read from a file and immutable.
type Description struct {
	// Name is the name of the provider: lower-case letters, digits and hyphens.
	Name string
	// Timeout is the limit of one call, from the name lookup to the last byte of the answer.
	Timeout time.Duration
	// Concurrency limits concurrent calls. Separate calls (see CallShape.Separate) have another
	// limit of the same size.
	Concurrency int

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

// Open reads a description's Source from disk, with the environment of the process.
func Open(file string) (Source, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Source{}, err
	}
	return Source{File: file, Text: text, Env: os.LookupEnv, ReadFile: os.ReadFile}, nil
}

// Parse reads a description. The function own, unless nil, reads the caller's keys at the root of
// the file, and may inspect the rest of the description. The error is config.Problems with every fault.
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

// HasCall reports whether the description defines a call.
func (d *Description) HasCall(call string) bool { return d.calls[call] != nil }

// HasCallback reports whether the description defines callbacks.
func (d *Description) HasCallback() bool { return d.callback != nil }

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// readBase reads the base URL of all calls.
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

// readRoots reads the certificate authorities in ca-file, whose path is relative to the description.
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
		s.Faultf("ca-file", "holds no certificate in PEM form")
	}
	return pool
}

// reason returns a file system error without its path, which may be secret.
func reason(err error) error {
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return at.Err
	}
	return err
}

// readCalls reads every call of the shape. Other keys stay unread, and so are reported as unknown.
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
