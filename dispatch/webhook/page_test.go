package webhook_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"vayu/dispatch/webhook"
)

const page = "../../docs/webhooks.md"

// vector is a delivery, and whether it is genuine.
type vector struct {
	Name   string `json:"name"`
	Secret string `json:"secret"`
	Header string `json:"header"`
	Body   []byte `json:"body"`
	Now    int64  `json:"now"`
	want   bool
}

func vectors() []vector {
	good := webhook.Sign(event, noon, secret)
	both := webhook.Sign(event, noon, other, secret)
	stamp, v1, _ := strings.Cut(good, ",")
	now := noon.Unix()
	v := func(name, header string, want bool) vector { return vector{name, secret, header, event, now, want} }
	at := func(name string, now int64, want bool) vector { return vector{name, secret, good, event, now, want} }
	return []vector{
		v("good", good, true),
		v("two signatures, the second known", both, true),
		v("two signatures, the first known", webhook.Sign(event, noon, secret, other), true),
		v("schemes of tomorrow", "v0=1,"+good+",v2=x", true),
		at("five minutes old", now+300, true),
		at("older", now+301, false),
		at("of the future", now-301, false),
		{"another secret", other, good, event, now, false},
		{"no secret", "", webhook.Sign(event, noon, ""), event, now, false},
		{"tampered", secret, good, bytes.Replace(event, []byte("499"), []byte("999"), 1), now, false},
		{"a byte more", secret, good, append(bytes.Clone(event), '\n'), now, false},
		{"bytes that are no text", secret, webhook.Sign([]byte("\xff\x00\r\n"), noon, secret), []byte("\xff\x00\r\n"), now, true},
		v("a time that is not the signed one", strings.Replace(good, "t=1795000000", "t=1795000001", 1), false),
		v("empty", "", false),
		v("no time", v1, false),
		v("no signature", stamp, false),
		v("another scheme", strings.Replace(good, "v1=", "v0=", 1), false),
		v("short", good[:len(good)-1], false),
		v("an empty signature", stamp+",v1=", false),
		v("a long one", good+"00", false),
		v("letters of another script", stamp+",v1=é"+strings.Repeat("0", 62), false),
		v("rubbish", "=,==,t,v1,t=1=2,\x00", false),
	}
}

// The documented verifiers distinguish genuine deliveries from others.
func TestDocumentedVerifiers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		language, harness, block, program string
		args                              []string
	}{
		{"go", "vectors.go.txt", "", "go", []string{"run", "main.go"}},
		{"js", "vectors.mjs", "verify.mjs", "node", []string{"main"}},
		{"python", "vectors.py", "verify.py", "python3", []string{"main"}},
	} {
		t.Run(c.language, func(t *testing.T) {
			t.Parallel()
			block := regexp.MustCompile("(?s)\n```" + c.language + "\n(.*?)\n```\n").FindSubmatch(text)
			if block == nil {
				t.Fatalf("%s has no block in %s", page, c.language)
			}
			program, err := exec.LookPath(c.program)
			if err != nil {
				skipMissing(t, c.program, err)
			}
			harness, err := os.ReadFile(filepath.Join("testdata", c.harness))
			if err != nil {
				t.Fatal(err)
			}
			dir, files := t.TempDir(), map[string][]byte{}
			if c.block == "" { // Go: one file
				files["main.go"] = append(harness, block[1]...)
				files["go.mod"] = []byte("module receiver\n\ngo 1.24\n")
			} else {
				files[c.block] = block[1]
				c.args[0] += filepath.Ext(c.block)
				files[c.args[0]] = harness
			}
			for name, content := range files {
				if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			runVerifier(t, dir, program, c.args)
		})
	}
}

// runVerifier runs a verifier with the vectors.
func runVerifier(t *testing.T, dir, program string, args []string) {
	t.Helper()
	all := vectors()
	in, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "PYTHONDONTWRITEBYTECODE=1")
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	results := strings.Fields(string(out))
	if len(results) != len(all) {
		t.Fatalf("%d vectors have the results %q", len(all), results)
	}
	for i, v := range all {
		if results[i] != fmt.Sprint(v.want) {
			t.Errorf("%s: got %s, want %v", v.Name, results[i], v.want)
		}
	}
}

// The package gives the same results.
func TestPackageMatchesDocumentation(t *testing.T) {
	t.Parallel()
	for _, v := range vectors() {
		if err := webhook.Verify(v.Body, v.Header, time.Unix(v.Now, 0), v.Secret); (err == nil) != v.want {
			t.Errorf("%s: got %v, want %v", v.Name, err, v.want)
		}
	}
}

// A customer copies this folder alone.
func TestImportsNothingOfVayu(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	switch {
	case err != nil:
		t.Fatalf("no files: %v", err)
	case len(files) == 0:
		t.Fatal("no files: files is empty")
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") && regexp.MustCompile(`(?m)^\s*(\w+ )?"(vayu|[\w-]+\.[\w.]+)/`).Match(text) {
			t.Errorf("%s imports more than the standard library", name)
		}
	}
}
