package httpconnector_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"vayu/internal/testing/providers/fakeaggregator"
	"vayu/internal/testing/providers/fakebank"
	"vayu/pipeline/httpconnector"
	recharge "vayu/pipeline/recharge/connector"
	verify "vayu/pipeline/verify/connector"
)

// connector is a kind of provider that a description file connects.
type connector struct {
	page    string // the document about its description files
	invalid string // matches its invalid files
	valid   string // a valid file
	unknown string // a file with unknown keys and values, so that its faults list all known ones
	open    func(file string) error
}

var connectors = map[string]connector{
	"operator": {
		page: operatorPage, invalid: "testdata/operators/*.bad.yaml", valid: fakeaggregator.Describe("https://aggregator.example"),
		unknown: `
x: 1
auth: {x: 1, header: {x: 1}, basic: {x: 1}, hmac: {x: 1, over: "{x}"}}
breaker: {x: 1}
calls:
  x: 1
  submit: {x: 1, path: "/{x}", by-http: {404: {x: 1}}, answer: {x: 1, status: {x: 1, values: {x: x}}, code: {path: x, values: {x: x}}}}
  enquire: {answer: {status: {path: x, values: {x: x}}}}
  refund: {answer: {status: {path: x, values: {x: x}}}}
  detect: {x: 1, path: "/{x}", answer: {x: 1, status: {path: x, values: {x: x}}}}
  plans: {x: 1, path: "/{x}", answer: {x: 1}}
callback: {x: 1, signature: {x: 1}, answer: {x: 1}}
recharge: {x: 1}
`,
		open: func(file string) error { _, err := recharge.Open(file, httpconnector.Options{}); return err },
	},
	"bank": {
		page: bankPage, invalid: "testdata/banks/*.bad.yaml", valid: fakebank.Describe("https://bank.example"),
		unknown: `
x: 1
auth: {x: 1, header: {x: 1}, basic: {x: 1}, hmac: {x: 1, over: "{x}"}}
breaker: {x: 1}
calls:
  x: 1
  deposit: {x: 1, path: "/{x}", by-http: {404: {x: 1}}, answer: {x: 1, status: {x: 1, values: {x: x}}, account_status: {x: 1, values: {x: x}}, reasons: {values: {x: x}}}}
  enquire: {path: "/{x}", answer: {x: 1, status: {path: x, values: {x: x}}}}
  resolve: {path: "/{x}", answer: {x: 1, status: {path: x, values: {x: x}}}}
callback: {x: 1, signature: {x: 1}, answer: {x: 1}}
verify: {x: 1, methods: x, world: x}
`,
		open: func(file string) error { _, err := verify.Open(file, httpconnector.Options{}); return err },
	},
}

// write writes a description file into a folder of the test, and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "provider.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// All faults of a file are reported at once, each with its line.
func TestFileFaults(t *testing.T) {
	t.Parallel()
	for name, c := range connectors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			httpconnector.WantFaults(t, c.invalid, func(t *testing.T, file string) error {
				t.Helper()
				return c.open(file)
			})
		})
	}
}

func TestValidFile(t *testing.T) {
	t.Parallel()
	for name, c := range connectors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := c.open(write(t, c.valid)); err != nil {
				t.Errorf("Open of a valid file: %v", err)
			}
		})
	}
}

func TestMissingFile(t *testing.T) {
	t.Parallel()
	for name, c := range connectors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := c.open(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("Open of a missing file: got %v, want %v", err, os.ErrNotExist)
			}
		})
	}
}
