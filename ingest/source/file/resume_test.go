package file

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"vayu/ingest"
	"vayu/schema/air"
)

// longTable returns a table with more readings than one batch.
func longTable(rows int) []byte {
	var text bytes.Buffer
	text.WriteString("site_name;from_date;to_date;PM2.5;PM10;NO2;CO\n")
	for i := range rows {
		fmt.Fprintf(&text, "\"Site %d, Delhi - DPCC\";%02d-01-2020 %02d:00;%02d-01-2020 %02d:00;%d;%d;%d.5;1\n",
			i/600, 1+i%600/24, i%24, 1+i%600/24, i%24+1, i%400, i%300, i%200)
	}
	return text.Bytes()
}

// collect returns the readings of a file from a position on. It also returns each
// batch's position with the number of readings until then.
func collect(t *testing.T, path string, start int64) (readings []air.Reading, positions []int64, counts []int) {
	t.Helper()
	f, err := Open("file", path, start, now, shippedFormats(t))
	if err != nil {
		t.Fatal(err)
	}
	err = f.Fetch(t.Context(), ingest.Window{}, func(b *ingest.Batch) error {
		defer b.Release()
		for i := range b.Rows() {
			readings = append(readings, b.Reading(i))
		}
		positions, counts = append(positions, b.Position), append(counts, len(readings))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return readings, positions, counts
}

// TestResume checks that a resumed file yields every missing reading and starts at
// most one row early.
func TestResume(t *testing.T) {
	t.Parallel()
	plain := longTable(160_000)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(plain)
	_ = w.Close()
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().Bytes(plain)
	if err != nil {
		t.Fatal(err)
	}
	var export bytes.Buffer
	export.WriteString("Station;\"Here, Delhi - DPCC\"\nFrom Date;To Date;PM2.5;PM10;NO2;CO\n")
	for line := range bytes.Lines(plain[bytes.IndexByte(plain, '\n')+1:]) {
		_, row, _ := bytes.Cut(line, []byte{';'})
		export.Write(row)
	}
	for name, content := range map[string][]byte{"plain": plain, "gzip": packed.Bytes(), "utf16": wide, "export": export.Bytes()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkResume(t, content)
		})
	}
}

func checkResume(t *testing.T, content []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	all, positions, counts := collect(t, path, 0)
	if len(positions) < 3 {
		t.Fatalf("%d batches, want several", len(positions))
	}
	for i, position := range positions {
		rest, _, _ := collect(t, path, position)
		early := len(rest) - (len(all) - counts[i])
		if early < 0 || early > 4 {
			t.Fatalf("from position %d: %d readings, %d more than the rest; want at most a row more", position, len(rest), early)
		}
		if !slices.Equal(rest, all[len(all)-len(rest):]) {
			t.Fatalf("from position %d: other readings", position)
		}
	}
}
