package datagov

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"vayu/ingest"
)

// FuzzListing parses arbitrary pages. Nothing may panic, and the yielded readings
// must pass the rules.
func FuzzListing(f *testing.F) {
	pages, err := filepath.Glob("testdata/*/*.json")
	if err != nil {
		f.Fatal(err)
	}
	if len(pages) == 0 {
		f.Fatal("no seeds")
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	now := time.Date(2025, 12, 9, 7, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		b := ingest.NewBuilder("fuzz", now, func(b *ingest.Batch) error {
			defer b.Release()
			for i := range b.Rows() {
				if r := b.Reading(i); ingest.Check(&r, now) != ingest.None {
					t.Errorf("a reading that the rules refuse: %+v", r)
				}
			}
			return nil
		})
		l := newListing()
		if done, err := l.addPage([]byte(text)); err != nil || !done || l.add(b) != nil {
			b.Discard()
			return
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
