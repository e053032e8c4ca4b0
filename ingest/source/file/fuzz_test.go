package file

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"vayu/ingest"
	"vayu/ingest/source/file/table"
	"vayu/ingest/sourcetest"
)

// FuzzFile parses arbitrary files. Nothing may panic, and the yielded readings
// must pass the rules.
func FuzzFile(f *testing.F) {
	cases, err := filepath.Glob("testdata/*/case.json")
	if err != nil {
		f.Fatal(err)
	}
	if len(cases) == 0 {
		f.Fatal("no seeds")
	}
	described, _ := filepath.Glob("../described/shipped/*/*/case.json")
	for _, path := range slices.Concat(cases, described) {
		var c sourcetest.Case
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if err := json.Unmarshal(text, &c); err != nil {
			f.Fatal(err)
		}
		if c.Input == "" {
			continue
		}
		input := filepath.Join(filepath.Dir(path), c.Input)
		text, err = os.ReadFile(input)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, int64(0))
		f.Add(text, int64(100))
	}
	known := shippedFormats(f)
	f.Fuzz(func(t *testing.T, text []byte, start int64) {
		in := &table.Input{Path: "Raw_data_15Min_2020_site_115_NSIT_Dwarka_Delhi_CPCB_15Min.csv", Start: start, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
		format, err := recognise(in, known, now())
		if err != nil {
			return
		}
		b := ingest.NewBuilder("fuzz", now(), func(b *ingest.Batch) error {
			defer b.Release()
			for i := range b.Rows() {
				if r := b.Reading(i); ingest.Check(&r, now()) != ingest.None || r.Averaging == 0 {
					t.Errorf("a reading that the rules refuse: %+v", r)
				}
			}
			return nil
		})
		if format.parse(in, b) != nil {
			b.Discard()
			return
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestTooLongLine(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("x"), table.MaxLine+5)
	for name, text := range map[string][]byte{
		"in the middle": slices.Concat([]byte(listingHead), long, []byte("\n"), []byte(listingRow)),
		"at the end":    slices.Concat([]byte(listingHead), []byte(listingRow), long),
		"full buffers":  slices.Concat([]byte(listingHead), bytes.Repeat([]byte("y"), 3*table.MaxLine), []byte("\n"), []byte(listingRow)),
	} {
		path := filepath.Join(t.TempDir(), "input")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		got := reap(t, path)
		if got.Readings != 1 || got.Rejected[ingest.BadLine] != 1 {
			t.Errorf("%s: %d readings, rejected %v, want one of each", name, got.Readings, got.Rejected)
		}
	}
}
