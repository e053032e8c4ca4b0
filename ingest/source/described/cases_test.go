package described

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"vayu/ingest"
	"vayu/ingest/sourcetest"
)

// anyKey is an environment in which every variable is the key that no error may hold.
func anyKey(string) (string, bool) { return sourcetest.Key, true }

// hosts matches the scheme and host of URLs in a description.
var hosts = regexp.MustCompile(`url: https?://[^/\n]+`)

// hostOf matches the scheme and host of a server's address.
var hostOf = regexp.MustCompile(`^http://[^/]+`)

// at returns a description whose requests go to a server of a test.
func at(f File, server string) File {
	f.Text = hosts.ReplaceAll(f.Text, []byte("url: "+hostOf.FindString(server)))
	if !regexp.MustCompile(`(?m)^local:`).Match(f.Text) {
		f.Text = append(f.Text, "\nlocal: true\n"...)
	}
	f.Env = anyKey
	return f
}

// open builds the source of a description. It does not wait for the call budget.
func open(t testing.TB, f File, clock func() time.Time) *Source {
	t.Helper()
	d, err := Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	src, err := d.New(d.Name, clock)
	if err != nil {
		t.Fatal(err)
	}
	s := src.(*Source)
	s.caller.sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return s
}

// run runs the cases of a folder against a description.
func run(t *testing.T, folder string, f File) {
	f.Env = anyKey
	d, err := Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	sourcetest.Run(t, folder, func(c *sourcetest.Case) (ingest.Source, error) {
		return d.NewAgainst(c.Host(), c.Clock, func(ctx context.Context, _ time.Duration) error { return ctx.Err() }), nil
	})
}

// TestShippedDescriptions runs the cases of the sources. Package file has those of formats.
func TestShippedDescriptions(t *testing.T) {
	t.Parallel()
	for _, f := range Shipped() {
		f.Env = anyKey
		if d, err := Parse(f); err == nil && !d.Fetches() {
			continue
		}
		t.Run(NameOf(f.Path), func(t *testing.T) {
			t.Parallel()
			run(t, filepath.Join("shipped", NameOf(f.Path)), f)
		})
	}
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/language/*/source.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no description: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(filepath.Dir(file)) + ".yaml"
			run(t, filepath.Dir(file), File{Path: name, Text: text})
		})
	}
}
