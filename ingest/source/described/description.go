// Package described builds sources from descriptions. A description is a YAML file about a network of stations. It
// defines the requests to an API, the files or the MQTT messages, and how their records become readings. The guide
// docs/guides/sources.md explains every key.
package described

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"vayu/ingest"
	"vayu/ingest/fetch"
	"vayu/ingest/runner"
	"vayu/ingest/source/described/budget"
	"vayu/ingest/source/described/fileset"
	"vayu/ingest/source/described/mapping"
	"vayu/ingest/source/described/messages"
	"vayu/ingest/source/described/timestamp"
	"vayu/internal/config"
	"vayu/internal/config/section"
)

// Limits and defaults of numbers in a description.
const (
	defaultCallTimeout = 60 * time.Second
	mostCallTimeout    = 10 * time.Minute
	defaultMaxBytes    = 32 * config.MiB // of a reply; Sensor.Community's whole feed has 9 MB
	mostMaxBytes       = 256 * config.MiB
	leastSecret        = 4 // bytes; a shorter value is not masked, because it also occurs in ordinary texts
	mostTimeout        = 24 * time.Hour
	mostHistory        = 20 * 366 * 24 * time.Hour
)

// File is the file of a source description (YAML), before it is parsed.
type File struct {
	// Path is the path of the file, for errors. Its base without the extension is the default name of the source.
	Path string
	Text []byte
	// Shipped means that the description is part of the program.
	Shipped bool
	// Env looks up an environment variable, as os.LookupEnv does.
	Env func(string) (string, bool)
	// Calls is the store of the source's call budget. If it is nil, the budget is only in memory.
	Calls budget.Store
}

// Description is a parsed source description (YAML). It is immutable.
type Description struct {
	// Name is the name of the source: lower-case letters, digits and hyphens.
	Name string
	// SHA256 is the hash of the file, in hexadecimal.
	SHA256 string
	// About, Licence, Attribution and Homepage are texts about the network.
	About, Licence, Attribution, Homepage string
	// Feed is the schedule of the source. Its field Source is not set. Feed is empty if there is only a file format.
	Feed runner.Feed
	// Format is the file format that the description defines for imports, or nil if there is none.
	Format *Format

	network    string
	local      bool // addresses of private networks are allowed
	window     string
	timeout    time.Duration // of a call
	maxBytes   int64
	readings   request
	budget     budget.Rule
	calls      budget.Store    // nil to keep the budget in memory
	files      *fileset.Config // nil for an API
	auth       auth            // key of the requests, from the section `auth`
	partitions *listing        // list of the partitions; nil if one request covers the whole network
	stations   *listing        // station list; nil for none
	mapping    *mapping.Mapping
	stream     *messages.Subscription // nil for a source that fetches
	secrets    []string               // values of environment variables, plain and escaped as in URLs
}

var (
	namePattern    = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
	networkPattern = regexp.MustCompile(`^[a-z][a-z0-9]{0,15}$`)
)

// reservedPrefix is the prefix of the environment variables with the service's own settings. A description must not use
// these variables, because it could send the secrets in them to another host.
const reservedPrefix = "VAYU_"

// Parse parses a description. The error is config.Problems, with the file, line and key of every fault.
func Parse(from File) (*Description, error) {
	sum := sha256.Sum256(from.Text)
	d := &Description{SHA256: hex.EncodeToString(sum[:]), calls: from.Calls}
	reserved := ""
	root := section.Parse(from.Path, from.Text, func(name string) (string, bool) {
		if strings.HasPrefix(name, reservedPrefix) {
			reserved = name
			return "", false
		}
		value, ok := from.Env(name)
		if len(value) >= leastSecret {
			d.secrets = append(d.secrets, value, url.QueryEscape(value), url.PathEscape(value))
		}
		return value, ok
	})
	if !root.Present() {
		return nil, root.Finish()
	}
	d.readNames(root, from.Path)
	d.Format = readFormat(root.Section("recognise"), d)
	d.local = root.Bool("local", false)
	files := root.Section("files").Present()
	if files && root.Section("request").Node("url") != nil {
		root.Faultf("files", "a description has either request.url or files")
	}
	stream := root.Section("mqtt").Present()
	switch {
	case stream: // messages.Read is called below: its defaults depend on the mapping
	case files:
		d.readFiles(root)
	case d.Format == nil || root.Section("request").Present():
		d.readAPI(root)
	default:
		if d.stations = d.readListing(root, "stations", auth{}); d.stations != nil && d.stations.beside == nil {
			root.Section("stations").Faultf("beside", "is missing: the pattern of the names of lists beside a file")
		}
	}
	if d.stations != nil && !slices.Contains(d.stations.names, "id") {
		root.Section("stations").Faultf("fields", "must have id, whose values are those of station.id or of the path in match")
	}
	d.mapping = mapping.Read(root, mapping.Owner{Network: d.network, Licence: d.Licence, Attribution: d.Attribution})
	if stream {
		d.stream = messages.Read(root, d.Name, d.local, d.mapping)
		if password := d.stream.Settings.Password; len(password) >= leastSecret {
			d.secrets = append(d.secrets, password)
		}
		d.Feed = runner.Feed{Name: d.Name, Schedule: "on message", MaxSilence: d.stream.MaxSilence}
	}
	if reserved != "" {
		root.Faultf("auth", "%s: variables that begin with %s belong to the service; use another name", reserved, reservedPrefix)
	}
	if err := unfilled(from, root.Finish()); err != nil {
		return nil, err
	}
	return d, nil
}

// readAPI reads the keys of a source that sends requests to an API.
func (d *Description) readAPI(root *section.Section) {
	d.readFeed(root)
	d.readLimits(root.Section("request"))
	d.auth = readAuth(root.Section("auth"))
	d.partitions = d.readListing(root, "partitions", d.auth)
	d.stations = d.readListing(root, "stations", d.auth)
	if d.stations != nil && d.stations.request.url == nil {
		root.Section("stations").Faultf("beside", "belongs to files; a list of an API needs request")
	}
	var fields []string
	if d.partitions != nil {
		fields = d.partitions.names
	}
	d.readings = d.readRequest(root, d.auth, fields)
	d.Feed.AnyWindow = d.readings.windowed()
	d.budget = budget.Read(root.Section("budget"))
}

// readLimits reads the keys of the section `request` that apply to all calls.
func (d *Description) readLimits(s *section.Section) {
	if d.window = s.Text("window-format"); d.window == "" {
		d.window = "rfc3339"
	}
	if err := timestamp.CheckRequestFormat(d.window); err != nil {
		s.Faultf("window-format", "%w", err)
	}
	d.timeout = s.Duration("timeout", defaultCallTimeout, time.Second, mostCallTimeout)
	size := defaultMaxBytes
	if text := s.Text("max-bytes"); text != "" {
		if err := size.UnmarshalText([]byte(text)); err != nil || size < config.KiB || size > mostMaxBytes {
			s.Faultf("max-bytes", "must be a size such as 16MiB, from 1KiB to %s", mostMaxBytes)
		}
	}
	d.maxBytes = int64(size)
}

func (d *Description) readNames(root *section.Section, path string) {
	d.Name = root.Text("name")
	if d.Name == "" {
		d.Name = NameOf(path)
	}
	if err := CheckName(d.Name); err != nil {
		root.Faultf("name", "%w; without the key it is the name of the file", err)
	}
	if d.network = root.Text("network"); d.network == "" {
		d.network = strings.ReplaceAll(d.Name, "-", "")
		d.network = d.network[:min(len(d.network), 16)]
	} else if !networkPattern.MatchString(d.network) {
		root.Faultf("network", "must be up to 16 lower-case letters and digits: the ids of stations begin with it")
	}
	d.About, d.Homepage = root.Required("about"), root.Text("homepage")
	d.Licence, d.Attribution = root.Required("licence"), root.Required("attribution")
}

// CheckName returns an error unless name is a valid name of a source.
func CheckName(name string) error {
	if !namePattern.MatchString(name) {
		return errors.New("must be up to 32 lower-case letters, digits and hyphens, the first a letter")
	}
	return nil
}

// NameOf returns the default name of the source that a file describes: the name of the file without its extension.
func NameOf(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

func (d *Description) readFeed(root *section.Section) {
	d.Feed = runner.Feed{
		Name:     d.Name,
		Schedule: root.Text("schedule"),
		Jitter:   root.Duration("jitter", 0, 0, time.Hour),
		Timeout:  root.Duration("timeout", 10*time.Minute, time.Second, mostTimeout),
		Lookback: root.Duration("overlap", 3*time.Hour, time.Second, mostHistory),

		MaxSilence: root.Duration("max-silence", 0, time.Minute, mostHistory),
	}
	if d.Feed.Schedule == "" {
		d.Feed.Schedule = "@hourly"
	}
	if _, err := cron.ParseStandard(d.Feed.Schedule); err != nil {
		root.Faultf("schedule", `must have five fields of cron, as "5 * * * *", or be "@every 10m": %w`, err)
	}
	if history := root.Section("history"); history.Present() {
		d.Feed.History = history.Duration("range", 0, time.Hour, mostHistory)
		d.Feed.Step = history.Duration("step", 7*24*time.Hour, time.Hour, 366*24*time.Hour)
	}
}

// Fetches reports whether the description defines a source. If not, it defines only a file format.
func (d *Description) Fetches() bool {
	return d.readings.url != nil || d.files != nil || d.stream != nil
}

// New builds the source, as package source's Factory requires. A source of MQTT messages is for trial fetches only.
func (d *Description) New(name string, clock func() time.Time) (ingest.Source, error) {
	if name != d.Name {
		return nil, fmt.Errorf("source %q: its description names it %q", name, d.Name)
	}
	if !d.Fetches() {
		return nil, fmt.Errorf("source %q: it describes files for vayu import and watched folders only; add the section request or files", name)
	}
	if d.stream != nil {
		return d.Stream(clock).Trial(), nil
	}
	timeout := d.timeout
	if d.files != nil {
		timeout = d.files.Timeout()
		if err := d.files.Check(); err != nil {
			return nil, fmt.Errorf("source %q: %w", name, err)
		}
	}
	client := fetch.NewPublic(timeout, d.maxBytes)
	if d.local {
		client = fetch.New(timeout, d.maxBytes)
	}
	return d.source(client, clock, nil), nil
}

// NewAgainst builds the source for a test. All its requests go to a fake server at the address `server` (host:port). It
// calls the function `sleep` instead of waiting.
func (d *Description) NewAgainst(server string, clock func() time.Time, sleep budget.Sleep) ingest.Source {
	return d.source(fetch.NewTo(server, d.timeout, d.maxBytes), clock, sleep)
}

// NewIn builds the source for a test of a description with the key `files.folder`. The source reads the files in the
// given folder, not in that of the description.
func (d *Description) NewIn(folder string, clock func() time.Time) ingest.Source {
	other := *d
	other.files = d.files.In(folder)
	return other.source(fetch.New(d.timeout, d.maxBytes), clock, nil)
}

// ReadsFiles reports whether the source reads files, and whether these are in a local folder.
func (d *Description) ReadsFiles() (files, inFolder bool) {
	return d.files != nil, d.files != nil && d.files.InFolder()
}

func (d *Description) source(client *fetch.Client, clock func() time.Time, sleep budget.Sleep) ingest.Source {
	c := budget.NewCaller(client, d.budget, d.calls, clock, sleep)
	if d.files != nil {
		return d.fileSource(c, clock)
	}
	src := &Source{d: d, clock: clock, caller: c}
	if d.partitions != nil {
		return divided{src}
	}
	return src
}

// clean replaces the secrets of the description in a text by asterisks.
func (d *Description) clean(text string) string {
	for _, secret := range d.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}
