// Package sourcetest runs the conformance tests of sources as Go tests. Package conformance documents the folders of
// test cases.
package sourcetest

import (
	"path/filepath"
	"testing"

	"vayu/ingest/conformance"
)

// Key is the API key of a source under test. No error may contain it.
const Key = conformance.Key

// Case is a test case of a source.
type Case = conformance.Case

// Run runs every folder of dir as a test. The source must return the readings, rejections and error of the case. It
// must also meet the contract of ingest.Source.
func Run(t *testing.T, dir string, open conformance.Opener) {
	t.Helper()
	folders, err := conformance.Folders(dir) // fuzz corpora are in dir, too
	if err != nil {
		t.Fatal(err)
	}
	if len(folders) == 0 {
		t.Fatalf("%s has no case", dir)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			c, err := conformance.Load(folder)
			if err != nil {
				t.Fatal(err)
			}
			faults, err := c.Check(t.Context(), open)
			if err != nil {
				t.Fatal(err)
			}
			for _, fault := range faults {
				t.Errorf("%s: %s", fault.Part, fault.Text)
			}
		})
	}
}
