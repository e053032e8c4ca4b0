package httpconnector

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// All faults of a description are reported at once, each with its line.
func TestFaultsAreNamed(t *testing.T) {
	t.Parallel()
	WantFaults(t, "testdata/*.bad.yaml", func(t *testing.T, file string) error {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = parse(string(text)); err == nil {
			return nil
		}
		for _, secret := range secrets {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error %q contains a secret", err)
			}
		}
		return err
	})
}

// WantFaults compares the error of check with the faults that a file expects, for each file that matches
// pattern. The expected faults begin the file, one per line after #!. FILE in them is the path.
func WantFaults(t *testing.T, pattern string, check func(t *testing.T, file string) error) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no file matches %s", pattern)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".bad.yaml"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err = check(t, file); err == nil {
				t.Fatal("the file is accepted")
			}
			var want, got []string
			for line := range strings.Lines(string(text)) {
				if fault, ok := strings.CutPrefix(line, "#! "); ok {
					want = append(want, strings.TrimSpace(fault))
				}
			}
			for _, line := range strings.Split(err.Error(), "\n")[1:] {
				got = append(got, strings.ReplaceAll(strings.TrimSpace(line), file, "FILE"))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	d, err := parse(strings.Replace(strings.Replace(simple, "timeout: 2m\n", "", 1), "URL", "https://shop.example/v2/", 1))
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case d.Timeout != defaultTimeout:
		t.Errorf("d.Timeout = %v, want %v", d.Timeout, defaultTimeout)
	case d.Concurrency != defaultConcurrency:
		t.Errorf("d.Concurrency = %v, want %v", d.Concurrency, defaultConcurrency)
	case d.failures != defaultFailures:
		t.Errorf("d.failures = %v, want %v", d.failures, defaultFailures)
	case d.open != defaultOpen:
		t.Errorf("d.open = %v, want %v", d.open, defaultOpen)
	case !d.keepAlive:
		t.Error("d.keepAlive is false")
	}
	if got := d.base.String(); got != "https://shop.example/v2" {
		t.Errorf("the URL is %q", got)
	}
}

func TestPlainHTTPIsLocalOnly(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{
		"http://127.0.0.1:80": true, "http://[::1]:80": true, "http://localhost:80/x": true, "https://shop.example": true,
		"http://shop.example": false, "http://10.0.0.1": false, "http://localhost.example": false, "ftp://127.0.0.1": false,
		"https://": false, "https://a@shop.example": false, "https://shop.example?x=1": false, "https://shop.example#x": false, "shop.example": false,
		"http://shop.example\ninsecure-http: true": true,
	} {
		if _, err := parse(strings.Replace(simple, "URL", url, 1)); (err == nil) != want {
			t.Errorf("%q: got %v, want it to be taken: %v", url, err, want)
		}
	}
}
