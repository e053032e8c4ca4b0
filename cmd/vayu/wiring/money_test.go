package wiring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vayu/cmd/vayu/settings"
	"vayu/internal/testing/providers/fakeaggregator"
	"vayu/internal/testing/providers/fakebank"
	"vayu/pipeline/httpconnector"
)

// A recharge stores the name of its provider, so names must be unique. The error has
// both origins, because files are often copied.
func TestDuplicateOperatorNameIsRejected(t *testing.T) {
	t.Parallel()
	describe := func(file, name, world string) string {
		text := strings.NewReplacer("name: simulator", "name: "+name, "\nrecharge:\n", "\nrecharge:\n  world: "+world+"\n").
			Replace(fakeaggregator.Describe("http://127.0.0.1:1"))
		path := filepath.Join(t.TempDir(), file)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first, second, copied := describe("first.yaml", "acme", "live"), describe("second.yaml", "zenith", "live"), describe("copy.yaml", "acme", "live")
	other := describe("sandbox.yaml", "acme", "sandbox")
	for name, c := range map[string]struct {
		files []string
		want  []string // texts of the error; nil for no error
	}{
		"different ones":    {[]string{first, second}, nil},
		"one of each world": {[]string{first, other}, []string{first, other, "acme"}}, // a callback names no world
		"copied":            {[]string{first, second, copied}, []string{first, copied, "acme"}},
		"given twice":       {[]string{second, second}, []string{second, "zenith"}},
		"the sandbox's own": {[]string{describe("own.yaml", "sandbox", "sandbox")}, []string{"own.yaml", "the provider of the sandbox"}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := settings.Defaults()
			cfg.Recharge.Operators = c.files
			_, err := connections(cfg, httpconnector.Options{})
			wantErrorWith(t, err, c.want)
		})
	}
}

// Verifications store a name, too. A callback has only a name, so that a bank and an
// operator cannot share one.
func TestDuplicateBankNameIsRejected(t *testing.T) {
	t.Parallel()
	describe := func(file, name string) string {
		text := strings.Replace(fakebank.Describe("http://127.0.0.1:1"), "name: simulator", "name: "+name, 1)
		path := filepath.Join(t.TempDir(), file)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first, second, copied := describe("first.yaml", "acme"), describe("second.yaml", "zenith"), describe("copy.yaml", "acme")
	for name, c := range map[string]struct {
		files []string
		want  []string // texts of the error; nil for no error
	}{
		"different ones":    {[]string{first, second}, nil},
		"copied":            {[]string{first, second, copied}, []string{"verify.banks", first, copied, "acme"}},
		"the sandbox's own": {[]string{describe("own.yaml", "sandbox")}, []string{"own.yaml", "the provider of the sandbox"}},
		"not there":         {[]string{"nowhere.yaml"}, []string{"verify.banks", "nowhere.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := settings.Defaults()
			cfg.Verify.Banks = c.files
			_, err := banks(cfg, httpconnector.Options{})
			wantErrorWith(t, err, c.want)
		})
	}
}

// wantErrorWith requires an error with all these texts, or no error if there are none.
func wantErrorWith(t *testing.T, err error, texts []string) {
	t.Helper()
	if len(texts) == 0 && err != nil {
		t.Errorf("got %v, want no error", err)
	}
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want an error with %q", err, text)
		}
	}
}
