package described

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBadDescriptions compares the errors about the files in testdata/bad with the
// texts beside them.
func TestBadDescriptions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no description")
	}
	for _, file := range files {
		t.Run(NameOf(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := os.ReadFile(strings.TrimSuffix(file, ".yaml") + ".txt")
			_, err = Parse(File{Path: filepath.Base(file), Text: text, Env: func(string) (string, bool) { return "", false }})
			if err == nil {
				t.Fatal("the description was accepted")
			}
			if diff := cmp.Diff(string(want), err.Error()+"\n"); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// TestShippedDescriptionsAreComplete checks what the catalogue shows of each network.
func TestShippedDescriptionsAreComplete(t *testing.T) {
	t.Parallel()
	for _, f := range Shipped() {
		f.Env = anyKey
		d, err := Parse(f)
		if err != nil {
			t.Fatal(err)
		}
		if d.Name != NameOf(f.Path) || d.Homepage == "" || d.Fetches() && d.stream == nil && (d.Feed.Schedule == "" || d.Feed.Timeout <= d.timeout) {
			t.Errorf("%s: name %q, homepage %q, schedule %q, timeout %s", f.Path, d.Name, d.Homepage, d.Feed.Schedule, d.Feed.Timeout)
		}
	}
}

// The kit fails a description with a key if one of its requests lacks the key.
func TestOutlineSaysThatRequestsCarryAKey(t *testing.T) {
	t.Parallel()
	plain := strings.Replace(strings.Replace(rows, "%s", "http://127.0.0.1", 1), "{part}", "all", 1)
	for text, want := range map[string]bool{
		plain: false,
		plain + "\nauth:\n  header: {name: X-Key, value: \"${KEY}\"}\n": true,
		plain + "\nauth:\n  query: {name: key, value: \"${KEY}\"}\n":    true,
	} {
		d, err := Parse(File{Path: "rows.yaml", Text: []byte(text), Env: anyKey})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Outline().Keyed; got != want {
			t.Errorf("got %v, want %v, for\n%s", got, want, text)
		}
	}
}

func TestNameIsThatOfTheFile(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"x/roof-1.yaml": "roof-1", "roof.yml": "roof", "Roof.yaml": ""} {
		text := strings.Replace(strings.Replace(rows, "%s", "http://127.0.0.1", 1), "{part}", "all", 1)
		d, err := Parse(File{Path: path, Text: []byte(text), Env: anyKey})
		switch {
		case err != nil && want != "":
			t.Error(err)
		case err == nil && d.Name != want:
			t.Errorf("name %q, want %q", d.Name, want)
		}
	}
}
