package source

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"vayu/ingest"
	"vayu/ingest/monitor"
	"vayu/ingest/runner"
	"vayu/ingest/source/described"
	"vayu/ingest/source/described/budget"
	"vayu/ingest/source/file"
	"vayu/ingest/source/simulator"
	"vayu/schema"
)

// Catalogue has all sources: those written in Go, those whose description (YAML) is shipped with the program, and those
// whose description is in the folder that [Open] reads. After Open, only [Catalogue.KeepCalls] changes the catalogue.
type Catalogue struct {
	config  Config
	entries map[string]Entry
	formats map[string]file.Format // file formats that descriptions define, by name
	calls   func(source string) budget.Store
}

// Open reads the descriptions (*.yaml and *.yml) in a folder. If `required` is false, the folder may be missing. A file
// replaces the shipped description of the same source. Open returns an error if a file describes a source of
// [Registry], or the same source as another file. An invalid file becomes an entry with a fault, so that other sources
// still work. With an error, Open returns a catalogue of the sources that it had added before the error.
func Open(c Config, folder string, required bool) (*Catalogue, error) {
	all := &Catalogue{config: c, entries: maps.Clone(Registry), formats: make(map[string]file.Format)}
	watched := all.entries["file"]
	watched.Factory = func(c Config) Factory { return file.Watched{Config: c.File, Described: all.Formats()} }
	all.entries["file"] = watched
	simulated := all.entries[simulator.Name]
	simulated.Feed.History = c.Simulator.History
	all.entries[simulator.Name] = simulated
	for _, one := range shipped() {
		all.put(one.file, one.description, one.fault)
	}
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) && !required {
		return all, nil
	}
	if err != nil {
		return all, fmt.Errorf("reading the descriptions of sources: %w", err)
	}
	from := make(map[string]string)
	for _, file := range files {
		if ext := filepath.Ext(file.Name()); file.IsDir() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		path := filepath.Join(folder, file.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			return all, fmt.Errorf("reading the descriptions of sources: %w", err)
		}
		f := described.File{Path: path, Text: text}
		d, fault := parse(f)
		name := described.NameOf(path)
		if fault == nil {
			name = d.Name
		}
		if _, taken := Registry[name]; taken {
			return all, fmt.Errorf("%s: the name %q belongs to a source of the program; set another name", path, name)
		}
		if other := from[name]; other != "" {
			return all, fmt.Errorf("%s: %s has the name %q, too; set another name", path, other, name)
		}
		from[name] = path
		all.put(f, d, fault)
	}
	return all, nil
}

// parsed is a file with the result of [parse] for it.
type parsed struct {
	file        described.File
	description *described.Description
	fault       error
}

// shipped returns the descriptions that are part of the program. It parses them once for all calls of [Open].
var shipped = sync.OnceValue(func() []parsed {
	var all []parsed
	for _, f := range described.Shipped() {
		d, err := parse(f)
		all = append(all, parsed{f, d, err})
	}
	return all
})

// parse parses a description in which each environment variable has a placeholder as its value. The true values are
// needed only to build the source. For this, [fromFile.New] parses the description again.
func parse(f described.File) (*described.Description, error) {
	f.Env = func(string) (string, bool) { return "unset", true }
	return described.Parse(f)
}

// put adds the source and the file format that a description defines. They replace the source and the format of an
// earlier description with the same name. If `fault` is not nil, put adds only an entry with the fault.
func (c *Catalogue) put(f described.File, d *described.Description, fault error) {
	if fault != nil {
		c.entries[described.NameOf(f.Path)] = Entry{About: "invalid description " + f.Path, File: &f, Fault: fault}
		return
	}
	delete(c.entries, d.Name)
	delete(c.formats, d.Name)
	if d.Fetches() {
		c.entries[d.Name] = Entry{
			About: d.About, Feed: d.Feed, File: &f, Stream: d.Stream(time.Now) != nil,
			Factory: func(Config) Factory { return c.described(f, d.Name) },
		}
	}
	if d.Format != nil {
		c.formats[d.Name] = d.Format
	}
}

// Formats returns the file formats that descriptions define, in the order of their names.
func (c *Catalogue) Formats() []file.Format {
	var all []file.Format
	for _, name := range slices.Sorted(maps.Keys(c.formats)) {
		all = append(all, c.formats[name])
	}
	return all
}

// Opener returns a function that opens files of every format, whether Go or a description defines the format. `name`
// becomes the field Source of the readings.
func (c *Catalogue) Opener(name string, clock func() time.Time) file.Opener {
	formats := c.Formats()
	return func(path string, position int64) (*file.File, error) {
		return file.Open(name, path, position, clock, formats)
	}
}

// KeepCalls sets the function that returns the store in which a source counts its API calls. Processes with the same
// store share a source's call budget.
func (c *Catalogue) KeepCalls(store func(source string) budget.Store) { c.calls = store }

// described returns the factory of a source that has a description, with the store of the source's API calls.
func (c *Catalogue) described(f described.File, name string) fromFile {
	if c.calls != nil {
		f.Calls = c.calls(name)
	}
	return fromFile(f)
}

// fromFile is the factory of a source that has a description.
type fromFile described.File

// New implements [Factory]. It parses the description again, now with the environment of the process.
func (f fromFile) New(name string, clock func() time.Time) (ingest.Source, error) {
	f.Env = os.LookupEnv
	d, err := described.Parse(described.File(f))
	if err != nil {
		return nil, fmt.Errorf("source %q: %w", name, err)
	}
	return d.New(name, clock)
}

// configHash returns the SHA-256 of a source's configuration, in hexadecimal. For a source with a description it hashes
// the YAML file. For a source in Go it hashes the settings, with masked secrets.
func configHash(f Factory) string {
	var text []byte
	switch f := f.(type) {
	case fromFile:
		text = f.Text
	case file.Watched:
		text = fmt.Appendf(nil, "%+v", f.Config)
	default:
		text = fmt.Appendf(nil, "%+v", f)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Stream returns the description of a source that receives messages, parsed with the environment of the process. For a
// source that fetches, it returns nil.
func (c *Catalogue) Stream(name string) (*described.Description, error) {
	if !c.entries[name].Stream {
		return nil, nil
	}
	f := *c.entries[name].File
	f.Env = os.LookupEnv
	d, err := described.Parse(f)
	if err != nil {
		return nil, fmt.Errorf("source %q: %w", name, err)
	}
	return d, nil
}

// Names returns the names of all sources, sorted.
func (c *Catalogue) Names() []string { return slices.Sorted(maps.Keys(c.entries)) }

// NamesOf returns the names of the sources of a world (live or sandbox), sorted.
func (c *Catalogue) NamesOf(world schema.World) []string {
	return slices.DeleteFunc(c.Names(), func(name string) bool { return c.entries[name].World != world })
}

// Entry returns the entry of a source, or the zero value if the name is unknown.
func (c *Catalogue) Entry(name string) Entry { return c.entries[name] }

// Description returns the description file of a source, even an invalid file, and the folder of the source's test
// cases. If `source` ends with .yaml or .yml, it is the path of the file, and the cases are in a folder beside the
// file. Otherwise `source` is a name, and the cases are in the subfolder of `folder` with that name.
func (c *Catalogue) Description(source, folder string) (f described.File, cases string, err error) {
	if ext := filepath.Ext(source); ext == ".yaml" || ext == ".yml" {
		text, err := os.ReadFile(source)
		if err != nil {
			return described.File{}, "", fmt.Errorf("reading the description of a source: %w", err)
		}
		return described.File{Path: source, Text: text}, strings.TrimSuffix(source, ext), nil
	}
	entry, known := c.entries[source]
	switch {
	case !known:
		return described.File{}, "", fmt.Errorf("there is no source %q (known: %s)", source, strings.Join(c.Names(), ", "))
	case entry.File == nil:
		return described.File{}, "", fmt.Errorf("source %q is code in Go and has no description; its cases are tests in Go", source)
	}
	return *entry.File, filepath.Join(folder, source), nil
}

// Parse parses a list of live sources from a flag: names separated by commas, or only "none". It ignores blanks and
// duplicates. An empty list is an error. An error of Parse describes each fault and lists the known names.
func (c *Catalogue) Parse(list string) ([]string, error) {
	var names []string
	var faults []error
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if name == "" || name == "none" || slices.Contains(names, name) {
			continue
		}
		if err := c.check(name, schema.Live); err != nil {
			faults = append(faults, err)
			continue
		}
		names = append(names, name)
	}
	if len(names) > 0 && strings.Contains(","+strings.ReplaceAll(list, " ", "")+",", ",none,") {
		faults = append(faults, errors.New(`"none" stands alone`))
	}
	if strings.TrimSpace(list) != "none" && len(names) == 0 && len(faults) == 0 {
		faults = append(faults, errors.New(`no source is named; "none" runs without one`))
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("reading the sources %q: %w (known: %s, or none)", list, errors.Join(faults...), strings.Join(c.NamesOf(schema.Live), ", "))
	}
	return names, nil
}

// check returns an error unless the source exists, is valid and belongs to the world.
func (c *Catalogue) check(name string, world schema.World) error {
	entry, known := c.entries[name]
	switch {
	case !known:
		return fmt.Errorf("there is no source %q", name)
	case entry.Fault != nil:
		return fmt.Errorf("source %q: %w", name, entry.Fault)
	case entry.World != world:
		return fmt.Errorf("source %q fills the %s world only", name, entry.World)
	}
	return nil
}

// Has reports whether a source exists and is valid.
func (c *Catalogue) Has(name string) bool {
	_, err := c.Find(name)
	return err == nil
}

// Find returns a source by its name. If the name is unknown, the error lists the known names. If the description of
// the source is invalid, the error is the fault of the description.
func (c *Catalogue) Find(name string) (Entry, error) {
	entry, known := c.entries[name]
	if !known {
		return Entry{}, fmt.Errorf("there is no source %q (known: %s)", name, strings.Join(c.Names(), ", "))
	}
	if entry.Fault != nil {
		return Entry{}, fmt.Errorf("source %q: %w", name, entry.Fault)
	}
	return entry, nil
}

// New builds the source of the given name, which may belong to the live world or to the sandbox.
func (c *Catalogue) New(name string, clock func() time.Time) (ingest.Source, error) {
	entry, err := c.Find(name)
	if err != nil {
		return nil, err
	}
	return entry.Factory(c.config).New(name, clock)
}

// Limits returns the limits beyond which the monitor reports a problem, by the name of the source. For the sandbox it
// includes all sources. For the live world it includes only the sources in `names`.
func (c *Catalogue) Limits(world schema.World, names []string, now time.Time) (map[string]monitor.Limits, error) {
	if world == schema.Sandbox {
		names = c.NamesOf(world)
	}
	all := make(map[string]monitor.Limits, len(names))
	for _, name := range names {
		silence, err := c.entries[name].Feed.Silence(now)
		if err != nil {
			return nil, err
		}
		all[name] = monitor.Limits{MaxSilence: silence}
	}
	return all, nil
}

// Feed builds a source for the runner of a world. An unknown or invalid source, or one of the other world, is an error.
func (c *Catalogue) Feed(world schema.World, name string, clock func() time.Time) (runner.Feed, error) {
	if err := c.check(name, world); err != nil {
		return runner.Feed{}, err
	}
	src, err := c.New(name, clock)
	if err != nil {
		return runner.Feed{}, err
	}
	feed := c.entries[name].Feed
	feed.Name, feed.Source, feed.ConfigSHA256 = name, src, configHash(c.entries[name].Factory(c.config))
	return feed, nil
}
