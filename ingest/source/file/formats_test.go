package file

import (
	"testing"

	"vayu/ingest/source/described"
)

// shippedFormats returns the formats of the shipped descriptions.
func shippedFormats(t testing.TB) []Format {
	t.Helper()
	var all []Format
	for _, f := range described.Shipped() {
		f.Env = func(string) (string, bool) { return "unset", true }
		d, err := described.Parse(f)
		if err != nil {
			t.Fatal(err)
		}
		if d.Format != nil {
			all = append(all, d.Format)
		}
	}
	return all
}
