package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"vayu/internal/config"
)

type settings struct {
	Data    string          `yaml:"data" help:"data directory"`
	Listen  config.Address  `yaml:"listen"`
	Sources []string        `yaml:"sources"`
	APIKey  config.Secret   `yaml:"api-key"`
	Quiet   bool            `yaml:"quiet"`
	Engine  engine          `yaml:"engine"`
	Feeds   map[string]feed `yaml:"feeds"`
}

type engine struct {
	Library   string        `yaml:"library"`
	MaxMemory config.Size   `yaml:"max-memory"`
	Timeout   time.Duration `yaml:"timeout"`
	Threads   uint8         `yaml:"threads"`
	Share     float64       `yaml:"share"`
}

func (e *engine) Validate() []error {
	var errs []error
	if e.Timeout <= 0 {
		errs = append(errs, config.Invalid("timeout", "must be longer than zero, is %s", e.Timeout))
	}
	if e.Threads > 64 {
		errs = append(errs, config.Invalid("threads", "must be at most 64, is %d", e.Threads))
	}
	return errs
}

type feed struct {
	URL   string        `yaml:"url"`
	Every time.Duration `yaml:"every"`
	Token config.Secret `yaml:"token"`
}

func (f feed) Validate() []error {
	if f.URL == "" {
		return []error{config.Invalid("url", "must be given")}
	}
	return nil
}

func defaults() settings {
	return settings{
		Data: "data", Listen: "127.0.0.1:8080", Sources: []string{"cpcb"},
		Engine: engine{MaxMemory: 2 * config.GiB, Timeout: time.Minute, Threads: 2, Share: 0.5},
	}
}

// load runs Load with a file of the given text, an environment and arguments.
func load(t *testing.T, file string, environ []string, args ...string) (config.Loaded[settings], error) {
	t.Helper()
	flags := pflag.NewFlagSet("vayu", pflag.ContinueOnError)
	if err := config.Bind(flags, defaults()); err != nil {
		t.Fatal(err)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	from := config.Sources{Flags: flags, Environ: environ}
	if file != "" {
		from.File = filepath.Join(t.TempDir(), "vayu.yaml")
		if err := os.WriteFile(from.File, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return config.Load(defaults(), from)
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	file := "data: from-file\nlisten: :1\nsources: [a, b]\nengine:\n  library: from-file\n  timeout: 5s\n"
	environ := []string{"PATH=/bin", "VAYU_LISTEN=:2", "VAYU_SOURCES=c, d,", "VAYU_ENGINE_LIBRARY=from-env", "VAYU_API_KEY=k", "VAYU_DATA="}
	got, err := load(t, file, environ, "--listen", ":3", "--engine-library=from-flag", "--quiet")
	if err != nil {
		t.Fatal(err)
	}
	want := defaults()
	want.Data, want.Listen, want.Sources, want.Quiet = "from-file", ":3", []string{"c", "d"}, true
	want.APIKey = config.NewSecret("k")
	want.Engine.Library, want.Engine.Timeout = "from-flag", 5*time.Second
	if diff := cmp.Diff(want, got.Value); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	for key, origin := range map[string]string{
		"data": "vayu.yaml line 1", "listen": "flag --listen", "sources": "environment VAYU_SOURCES",
		"engine.timeout": "vayu.yaml line 6", "engine.threads": "default",
	} {
		if got := got.Origin(key); got != origin {
			t.Errorf("Origin(%q) = %q, want %q", key, got, origin)
		}
	}
}

func TestEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	file := `data: [a]
lisen: ":1"
engine:
  max-memory: much
  thread: 4
  share: NaN
  timeout: -1s
engine.library: x
feeds:
  delhi: {url: "http://x", every: soon, tokn: 1, token: [x]}
  pune: {}
`
	_, err := load(t, file, []string{"VAYU_QUIET=perhaps", "VAYU_ENGINE_THREADS=300"}, "--listen=nowhere")
	want := `the configuration is wrong:
  listen: "nowhere" is not host:port such as "127.0.0.1:8080" (flag --listen)
  quiet: "perhaps" is not true or false (environment VAYU_QUIET)
  engine.threads: "300" is not a whole number: out of range (environment VAYU_ENGINE_THREADS)
  data: want a text, have a list (vayu.yaml line 1)
  lisen: is unknown, did you mean "listen"? (vayu.yaml line 2)
  engine.max-memory: "much" is not a size such as "512MiB" or "2GB" (vayu.yaml line 4)
  engine.thread: is unknown, did you mean "threads"? (vayu.yaml line 5)
  engine.share: "NaN" is not a number (vayu.yaml line 6)
  engine.library: a key with dots is written as nested mappings (vayu.yaml line 8)
  feeds.delhi.every: "soon" is not a duration such as "90s" or "24h" (vayu.yaml line 10)
  feeds.delhi.tokn: is unknown, did you mean "token"? (vayu.yaml line 10)
  feeds.delhi.token: want a text, have a list (vayu.yaml line 10)
  engine.timeout: must be longer than zero, is -1s (vayu.yaml line 7)
  feeds.pune.url: must be given (vayu.yaml line 11)`
	if err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	var problems config.Problems
	if !errors.As(err, &problems) {
		t.Fatalf("the error is no Problems: %T", err)
	}
	if got := problems[0].Key; got != "listen" {
		t.Errorf("the first problem is of %q, want listen", got)
	}
}

func TestBadFiles(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for name, c := range map[string]struct{ text, want string }{
		"not YAML":      {"a: b: c", "mapping values are not allowed"},
		"a list":        {"- a", "want a mapping, have a list (vayu.yaml line 1)"},
		"twice":         {"data: a\ndata: b", `data: is duplicate (vayu.yaml line 2)`},
		"two documents": {"data: a\n---\ndata: b", "more than one YAML document"},
		"alias":         {"data: &a x\nlisten: *a", "anchors, aliases"},
		"loop":          {"feeds: &a {x: *a}", "anchors, aliases"},
		"merge":         {"engine:\n  <<: {threads: 1}", "anchors, aliases"},
		"deep":          {"data: " + deep, "nests deeper than 32"},
		"list as key":   {"? [a]\n: b", "a key must be a single word"},
		"group as text": {"engine: fast", "engine: want a mapping, have a single value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, c.text, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Load = %v, want %q", err, c.want)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no file": "", "blank": "\n", "comment": "# nothing\n", "nulls": "data:\nengine:\nsources: ~\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := load(t, text, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(defaults(), got.Value); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMissingFileIsAnError(t *testing.T) {
	t.Parallel()
	_, err := config.Load(defaults(), config.Sources{File: "testdata/none.yaml"})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "testdata/none.yaml") {
		t.Errorf("Load = %v, want os.ErrNotExist with the path", err)
	}
}

func TestForeignVariablesAreListed(t *testing.T) {
	t.Parallel()
	got, err := load(t, "", []string{"VAYU_PORT=tcp://10.0.0.1:80", "VAYU_DATTA=x", "OTHER=1"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"VAYU_DATTA", "VAYU_PORT"}, got.Ignored); diff != "" {
		t.Errorf("Ignored (-want +got):\n%s", diff)
	}
}

func TestPrintShowsOriginsAndHidesSecrets(t *testing.T) {
	t.Parallel()
	file := "feeds:\n  delhi:\n    url: http://x\n    token: hush\n"
	got, err := load(t, file, []string{"VAYU_API_KEY=hush"}, "--engine-max-memory=512MiB")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := got.Print(&out); err != nil {
		t.Fatal(err)
	}
	want := `data: data # default
listen: 127.0.0.1:8080 # default
sources: # default
  - cpcb
api-key: '***' # environment VAYU_API_KEY
quiet: false # default
engine:
  library: "" # default
  max-memory: 512MiB # flag --engine-max-memory
  timeout: 1m0s # default
  threads: 2 # default
  share: 0.5 # default
feeds: # vayu.yaml line 1
  delhi:
    every: 0s
    token: '***'
    url: http://x
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("Print (-want +got):\n%s", diff)
	}
	if all := fmt.Sprintf("%+v %#v", got, got); strings.Contains(all, "hush") {
		t.Errorf("a secret shows in %s", all)
	}
}

func TestBind(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("vayu", pflag.ContinueOnError)
	if err := config.Bind(flags, defaults(), "data", "sources", "engine.timeout"); err != nil {
		t.Fatal(err)
	}
	want := "      --data text                 data directory (default data)\n" +
		"      --engine-timeout duration    (default 1m0s)\n" +
		"      --sources list               (default cpcb)\n"
	if diff := cmp.Diff(strings.Fields(want), strings.Fields(flags.FlagUsages())); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	for _, key := range []string{"data", "api-key", "feeds", "none"} {
		if err := config.Bind(flags, defaults(), key); err == nil {
			t.Errorf("Bind of %q: no error", key)
		}
	}
}

func TestFaultsOfTheStruct(t *testing.T) {
	t.Parallel()
	check := func(name string, err error) {
		var problems config.Problems
		if err == nil || errors.As(err, &problems) {
			t.Errorf("%s: Load = %v, want a fault of the struct", name, err)
		}
	}
	_, err := config.Load(struct {
		A string `yaml:"a-b"`
		B struct {
			C string `yaml:"b"`
		} `yaml:"a"`
	}{}, config.Sources{})
	check("same flag", err)
	_, err = config.Load(struct {
		A string `yaml:"Upper"`
	}{}, config.Sources{})
	check("bad name", err)
	_, err = config.Load(struct {
		A chan int `yaml:"a"`
	}{}, config.Sources{})
	check("bad type", err)
	_, err = config.Load(1, config.Sources{})
	check("no struct", err)
}

func FuzzFile(f *testing.F) {
	f.Add("data: x\nengine: {max-memory: 1GiB, timeout: 1s}\nfeeds: {a: {url: b}}\n")
	f.Add("engine: [}\n")
	f.Add("a: &a [*a]\n? {b: c}\n: d\n--- !!binary x")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := load(t, text, nil)
		if err != nil && err.Error() == "" {
			t.Error("an error without a text")
		}
		if err == nil {
			var out strings.Builder
			if err := got.Print(&out); err != nil {
				t.Errorf("Print: %v", err)
			}
		}
	})
}
