package described

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/ingest/stream"
)

// block returns the first block of a language in a document.
func block(t *testing.T, text, language string) string {
	t.Helper()
	_, after, found := strings.Cut(text, "```"+language+"\n")
	if !found {
		t.Fatalf("the guide has no block of %s", language)
	}
	body, _, closed := strings.Cut(after, "```")
	if !closed {
		t.Fatalf("the block of %s has no end: %q", language, after)
	}
	return body
}

// TestGuide runs the example of the guide with the reply that the guide shows. It also
// checks that the guides have every key of the shipped descriptions.
func TestGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../docs/guides/sources.md")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/guides/mqtt.md")
	if err != nil {
		t.Fatal(err)
	}
	keys := append(slices.Clone(guide), page...)
	server := network(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, block(t, string(guide), "json")) })
	s := open(t, at(File{Path: "schools.yaml", Text: []byte(block(t, string(guide), "yaml"))}, server), func() time.Time { return noon })
	var got []string
	rejected := ingest.Rejections{}
	err = s.Fetch(t.Context(), ingest.Window{}, func(b *ingest.Batch) error {
		for i := range b.Rows() {
			r := b.Reading(i)
			got = append(got, fmt.Sprintf("%s %s %s %.2f", r.Station, r.Parameter, r.At.Format(time.RFC3339), r.Value))
		}
		rejected.Merge(b.Rejected)
		return drop(b)
	})
	// The hour that begins at 16:00 in India ends at 11:30 UTC.
	want := "schools-17 pm25 2026-06-09T11:30:00Z 61.50, schools-17 no2 2026-06-09T11:30:00Z 39.52"
	if err != nil || strings.Join(got, ", ") != want || rejected[ingest.Excluded] != 2 {
		t.Errorf("readings %s, rejected %v, error %v, want %s and two excluded", strings.Join(got, ", "), rejected, err, want)
	}
	for _, f := range Shipped() {
		if !strings.Contains(string(keys), "`"+NameOf(f.Path)+"`") {
			t.Errorf("the guide lacks the source %s", NameOf(f.Path))
		}
		for _, key := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(string(f.Text), -1) {
			if !regexp.MustCompile("`" + key[1] + "[`.]").Match(keys) {
				t.Errorf("the guide lacks the key %s of %s", key[1], f.Path)
			}
		}
	}
}

// TestPartitionsGuide runs the example of networks of two levels with the replies that the guide shows.
func TestPartitionsGuide(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/guides/partitions.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(page)
	devices := block(t, guide, "json")
	_, after, _ := strings.Cut(guide, devices)
	hours := block(t, after, "json")
	var calls []string
	server := network(t, func(w http.ResponseWriter, r *http.Request) {
		calls = append(calls, r.URL.Path)
		if r.URL.Path == "/v2/devices" {
			_, _ = fmt.Fprint(w, devices)
			return
		}
		_, _ = fmt.Fprint(w, hours)
	})
	s := open(t, at(File{Path: "roofs.yaml", Text: []byte(block(t, guide, "yaml"))}, server), func() time.Time { return noon })
	var paths ingest.Paths
	var got []string
	err = s.Fetch(ingest.WithRecorder(t.Context(), &ingest.Recorder{Paths: &paths}), ingest.Window{}, func(b *ingest.Batch) error {
		for i := range b.Rows() {
			r := b.Reading(i)
			got = append(got, fmt.Sprintf("%s %s %s %.1f", r.Station, r.Parameter, r.At.Format(time.RFC3339), r.Value))
		}
		return drop(b)
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"roofs-a17 pm25 2026-06-09T09:00:00Z 61.5"}, got); diff != "" {
		t.Errorf("readings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/v2/devices", "/v2/devices/A17/hours"}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if absent := paths.Absent(); len(absent) > 0 {
		t.Errorf("absent paths %v", absent)
	}
}

// TestMessageGuide reads the message of the guide with the description of the guide.
func TestMessageGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../docs/guides/mqtt.md")
	if err != nil {
		t.Fatal(err)
	}
	got, outcomes := decoded(
		t, File{Path: "balconies.yaml", Text: []byte(block(t, string(guide), "yaml"))}, date(2026, 6, 10),
		stream.Message{Topic: "balconies/rohini/7/state", Payload: []byte("found")},
		stream.Message{Topic: "balconies/rohini/7/air", Payload: []byte(block(t, string(guide), "json"))},
		stream.Message{Topic: "balconies/rohini/7/state", Payload: []byte("lost")},
		stream.Message{Topic: "balconies/rohini/7/air", Payload: []byte(block(t, string(guide), "json"))},
	)
	want := []string{"balconies-rohini-7 pm25 2026-06-09T10:00:00 61.5", "balconies-rohini-7 pressure 2026-06-09T10:00:00 981.2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("readings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[stream.Outcome]int{stream.Availability: 2, stream.Read: 1, stream.Offline: 1}, outcomes); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}
