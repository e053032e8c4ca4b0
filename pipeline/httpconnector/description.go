package httpconnector

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"vayu/internal/config"
)

// The limits of a description's numbers, and what they are when it does not say.
// An upstream that takes longer than ten seconds to answer is better asked again
// later; 16 calls at once of a second each are a thousand a minute.
const (
	defaultTimeout     = 10 * time.Second
	leastTimeout       = 100 * time.Millisecond
	mostTimeout        = 2 * time.Minute
	defaultConcurrency = 16
	mostConcurrency    = 1000
	defaultFailures    = 5
	mostFailures       = 1000
	defaultOpen        = 30 * time.Second
	leastOpen          = time.Second
	mostOpen           = time.Hour
)

// Description says how an upstream is called. It is read from a file and does not
// change.
type Description struct {
	// Name is the upstream's: lower-case letters, digits and hyphens.
	Name string
	// Timeout bounds one call, from the name to the last byte of the answer.
	Timeout time.Duration
	// Concurrency is how many calls may be under way at once, and as many that stand aside.
	Concurrency int

	base      *url.URL
	roots     *x509.CertPool // nil for the system's
	keepAlive bool
	failures  int
	open      time.Duration
	auth      auth
	calls     map[string]*call
	callback  *callback // nil for none
}

// Source is where a description comes from.
type Source struct {
	// File is its path: it stands in faults, and what the description names lies
	// beside it.
	File string
	Text []byte
	// Env looks a variable up, as os.LookupEnv does.
	Env func(string) (string, bool)
	// ReadFile reads a file that the description names, as os.ReadFile does.
	ReadFile func(string) ([]byte, error)
}

// Open is a description's Source on disk, with the environment of the process.
func Open(file string) (Source, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Source{}, err
	}
	return Source{File: file, Text: text, Env: os.LookupEnv, ReadFile: os.ReadFile}, nil
}

// Parse reads a description. Own reads those keys at the root of the file that are
// the business of the caller alone, and may look at what is known of the rest. The
// error holds every fault of the file as config.Problems.
func Parse(from Source, shape Shape, own func(root *Section, d *Description)) (*Description, error) {
	f := newParser(from)
	root := f.parse(from.Text)
	if !root.Given() {
		return nil, f.finish()
	}
	d := &Description{
		Name:        root.Needed("name"),
		Timeout:     root.Duration("timeout", defaultTimeout, leastTimeout, mostTimeout),
		Concurrency: root.Whole("concurrency", defaultConcurrency, 1, mostConcurrency),
		keepAlive:   root.Bool("keep-alive", true),
		calls:       map[string]*call{},
	}
	if d.Name != "" && !namePattern.MatchString(d.Name) {
		root.Faultf("name", "must be up to 32 lower-case letters, digits and hyphens, the first a letter")
	}
	d.base = root.base()
	d.roots = root.roots(from)
	breaker := root.Section("breaker")
	d.failures = breaker.Whole("failures", defaultFailures, 1, mostFailures)
	d.open = breaker.Duration("open", defaultOpen, leastOpen, mostOpen)
	d.auth = root.Section("auth").auth()
	d.readCalls(root.Section("calls"), shape)
	if c := root.Section("callback"); c.Given() {
		d.callback = c.callback(shape.Callback)
	}
	if own != nil {
		own(root, d)
	}
	if err := f.finish(); err != nil {
		return nil, err
	}
	return d, nil
}

// Has says whether the upstream has a call.
func (d *Description) Has(call string) bool { return d.calls[call] != nil }

// Tells says whether the upstream tells something by itself.
func (d *Description) Tells() bool { return d.callback != nil }

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// base is the URL that all calls begin with.
func (s *Section) base() *url.URL {
	text := s.Needed("url")
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
		s.Faultf("url", "must begin with https:// unless it leads to this machine; insecure-http: true allows what everybody on the way can read")
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u
}

// roots are the authorities of ca-file, which stands beside the description.
func (s *Section) roots(from Source) *x509.CertPool {
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

// reason is an error of the file system without the path, which may be a secret's.
func reason(err error) error {
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return at.Err
	}
	return err
}

// readCalls reads every call that the shape knows; what else stands there is unknown.
func (d *Description) readCalls(s *Section, shape Shape) {
	for _, name := range namesOf(shape.Calls) {
		c := s.Section(name)
		switch {
		case c.Given():
			d.calls[name] = c.call(shape.Calls[name])
		case shape.Calls[name].Needed:
			s.file.fault(s.line, join(s.key, name), fmt.Errorf("is missing"))
		}
	}
}
