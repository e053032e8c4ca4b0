// Package fileset reads the files of a source from a storage. It finds the files that are new or have changed. A
// description (YAML) defines where the files are, and which files belong to a window.
package fileset

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"vayu/ingest/source/described/pattern"
	"vayu/internal/config"
	"vayu/internal/config/section"
)

// Kinds of storages. They are keys of the section `files` of a source description (YAML).
const (
	inFolder = "folder"
	byURL    = "url"
	byIndex  = "index"
	inBucket = "bucket"
)

// Config is the parsed section `files` of a description. It is immutable.
type Config struct {
	kind    string
	at      string   // path of the folder, URL of the file or index, or prefix in the bucket; it may contain fields
	fields  []string // names of fields in `at`, except those of a date
	name    *pattern.Pattern
	within  *pattern.Pattern // pattern of the files in a ZIP archive; nil for all
	zone    *time.Location
	step    step // precision of the date in `at`
	nameBy  step // precision of the date in `name`
	settle  time.Duration
	timeout time.Duration

	limit    int64 // largest size of a file in bytes
	unpacked int64 // largest size of a file's content in bytes, after decompression
	parallel int

	bucket, region, endpoint, accessKey, secretKey string
}

// Limits and defaults of keys in the section `files`.
const (
	defaultLimit    = 256 * config.MiB
	mostLimit       = 16 * config.GiB
	defaultUnpacked = 2 * config.GiB
	mostUnpacked    = 256 * config.GiB
	defaultTimeout  = 5 * time.Minute
	mostTimeout     = 2 * time.Hour
	defaultParallel = 4
	mostParallel    = 16
)

// Read reads the section `files`, and returns nil if there is none. `parts` are the names of the fields of partitions.
// `local` allows HTTP without TLS.
func Read(s *section.Section, parts []string, local bool) *Config {
	if !s.Present() {
		return nil
	}
	c := &Config{
		settle: s.Duration("settle", 10*time.Second, 0, time.Hour), timeout: s.Duration("timeout", defaultTimeout, time.Second, mostTimeout),
		limit: size(s, "max-bytes", defaultLimit, mostLimit), unpacked: size(s, "max-unpacked", defaultUnpacked, mostUnpacked),
		parallel: s.Int("parallel", defaultParallel, 1, mostParallel), zone: readZone(s),
		name: readPattern(s, "name", pattern.Path), within: readPattern(s, "within", pattern.Path),
	}
	c.readPlace(s, local)
	c.step = c.readStep(s, parts)
	if c.name != nil {
		c.nameBy = stepOf(c.name.Fields())
		if err := c.nameBy.check(); err != nil {
			s.Faultf("name", "%w", err)
		}
	}
	if c.name == nil && c.kind != byURL {
		s.Faultf("name", `is missing: the pattern of the names, such as "*.csv.gz"`)
	}
	return c
}

// Check returns an error if the folder is not an absolute path. The folder is often an environment variable, whose
// value is known only when the source is built. The caller therefore calls Check at that time.
func (c *Config) Check() error {
	if c.kind == inFolder && !filepath.IsAbs(c.at) {
		return fmt.Errorf("files.folder: %q is not an absolute path", c.at)
	}
	return nil
}

// In returns a copy of the configuration that reads the files in another folder. Tests use it.
func (c *Config) In(folder string) *Config {
	other := *c
	other.at = folder
	return &other
}

// InFolder reports whether the files are in a local folder.
func (c *Config) InFolder() bool { return c.kind == inFolder }

// Dated reports whether the place or the names of the files have dates. Then the source can find files of the past.
func (c *Config) Dated() bool { return c != nil && (c.step != 0 || c.nameBy != 0) }

// Timeout returns the longest time that one download may take.
func (c *Config) Timeout() time.Duration { return c.timeout }

// readPlace reads the key that states where the files are: `folder`, `url`, `index` or `bucket`.
func (c *Config) readPlace(s *section.Section, local bool) {
	for _, kind := range []string{inFolder, byURL, byIndex, inBucket} {
		text := s.Text(kind)
		if s.Node(kind) == nil {
			continue
		}
		if text == "" {
			s.Faultf(kind, "must not be empty")
		}
		if c.kind != "" {
			s.Faultf(kind, "is the second place of the files beside %s; one description has one", c.kind)
			continue
		}
		c.kind, c.at = kind, text
	}
	switch c.kind {
	case "":
		c.kind = inFolder
		s.Faultf(inFolder, "is missing: one of folder, url, index or bucket is required")
	case byURL, byIndex:
		if err := checkURL(c.at, local); err != nil {
			s.Faultf(c.kind, "%w", err)
		}
	}
	c.readBucket(s, local)
}

// bucketName matches the name of a bucket.
var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// readBucket reads and checks the settings of a bucket. If the files are elsewhere, each such setting is a fault.
func (c *Config) readBucket(s *section.Section, local bool) {
	c.region, c.endpoint, c.accessKey, c.secretKey = s.Text("region"), s.Text("endpoint"), s.Text("access-key"), s.Text("secret-key")
	prefix := s.Text("prefix")
	if c.kind != inBucket {
		for _, key := range []string{"region", "endpoint", "access-key", "secret-key", "prefix"} {
			if s.Node(key) != nil {
				s.Faultf(key, "belongs to bucket")
			}
		}
		return
	}
	c.bucket, c.at = c.at, prefix
	if !bucketName.MatchString(c.bucket) {
		s.Faultf(inBucket, "must be the name of a bucket, without s3:// and without a prefix")
	}
	c.region = cmp.Or(c.region, "us-east-1")
	if c.endpoint != "" {
		if err := checkURL(c.endpoint, local); err != nil {
			s.Faultf("endpoint", "%w", err)
		}
	}
	if (c.accessKey == "") != (c.secretKey == "") {
		s.Faultf("access-key", "access-key and secret-key belong together; a public bucket needs neither")
	}
}

// readStep checks the fields in the place of the files (c.at), and returns the precision of the date that they form.
func (c *Config) readStep(s *section.Section, parts []string) step {
	key := c.kind
	if key == inBucket {
		key = "prefix"
	}
	names := fieldsOf(c.at)
	if len(names) > 0 && c.kind == inFolder {
		s.Faultf(key, "has no fields: the pattern name has them")
		return 0
	}
	for _, name := range names {
		if slices.Contains(pattern.Dates, name) {
			continue
		}
		if c.fields = append(c.fields, name); !slices.Contains(parts, name) {
			s.Faultf(key, "the field {%s} %w", name, config.UnknownKey(name, slices.Concat(pattern.Dates, parts)))
		}
	}
	by := stepOf(names)
	if err := by.check(); err != nil {
		s.Faultf(key, "%w", err)
	}
	return by
}

// checkURL returns an error if a URL cannot be the place of files, such as a URL with a field {…} in its host.
func checkURL(text string, local bool) error {
	u, err := url.Parse(fieldPattern.ReplaceAllString(text, "x"))
	_, after, _ := strings.Cut(text, "://")
	host, _, _ := strings.Cut(after, "/")
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("must be a URL such as https://data.example.com/{yyyy}/{mm}/hours.csv")
	case strings.Contains(host, "{"):
		return errors.New("must have no field in its host")
	case u.User != nil || u.Fragment != "":
		return errors.New("must have no user and no fragment")
	case u.Scheme == "http" && !local:
		return errors.New("must begin with https://; local: true allows unencrypted requests to a server in the local network")
	}
	return nil
}

func readPattern(s *section.Section, key string, compile func(string) (*pattern.Pattern, error)) *pattern.Pattern {
	text := s.Text(key)
	if text == "" {
		return nil
	}
	p, err := compile(text)
	if err != nil {
		s.Faultf(key, "%w", err)
		return nil
	}
	return p
}

func readZone(s *section.Section) *time.Location {
	name := s.Text("zone")
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		s.Faultf("zone", "%q is not a time zone such as UTC or Asia/Kolkata", name)
		return time.UTC
	}
	return zone
}

// size reads a size in bytes, which must be from 1 KiB to `most`.
func size(s *section.Section, key string, fallback, most config.Size) int64 {
	n := fallback
	if text := s.Text(key); text != "" {
		if err := n.UnmarshalText([]byte(text)); err != nil || n < config.KiB || n > most {
			s.Faultf(key, "must be a size such as 64MiB, from 1KiB to %s", most)
			return int64(fallback)
		}
	}
	return int64(n)
}
