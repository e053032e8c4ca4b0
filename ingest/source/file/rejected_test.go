package file

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/ingest/runner"
)

// Rejected values have the lines of the file as they are, and a run has its hash.
func TestRejectedValuesHaveTheirLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "hours.csv")
	const text = "country,state,city,station,last_update,latitude,longitude,pollutant_id,pollutant_min,pollutant_max,pollutant_avg\n" +
		`India,Delhi,Delhi,"Anand Vihar, Delhi - DPCC",20-01-2026 10:00:00,28.6,77.3,PM2.5,1,9,5` + "\n" +
		`India,Delhi,Delhi,"Anand Vihar, Delhi - DPCC",20-01-2026 10:00:00,28.6,77.3,PM10,1,9,"5""x"` + "\n" +
		`India,Delhi,"unbalanced` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := Open("import", path, 0, func() time.Time { return time.Date(2026, 1, 21, 0, 0, 0, 0, time.UTC) }, shippedFormats(t))
	if err != nil {
		t.Fatal(err)
	}
	var recorder ingest.Recorder
	sample, err := runner.FetchSample(ingest.WithRecorder(t.Context(), &recorder), src, ingest.Window{}, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	want := []ingest.RejectedValue{
		{Reason: ingest.BadNumber, Field: "pm10", Line: 3, Raw: `India,Delhi,Delhi,"Anand Vihar, Delhi - DPCC",20-01-2026 10:00:00,28.6,77.3,PM10,1,9,"5""x"`},
		{Reason: ingest.BadLine, Line: 4, Raw: `India,Delhi,"unbalanced`},
	}
	if diff := cmp.Diff(want, sample.Values); diff != "" {
		t.Errorf("rejected values (-want +got):\n%s", diff)
	}
	sum := sha256.Sum256([]byte(text))
	if diff := cmp.Diff(ingest.Received{Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}, recorder.Received()); diff != "" {
		t.Errorf("received (-want +got):\n%s", diff)
	}
}
