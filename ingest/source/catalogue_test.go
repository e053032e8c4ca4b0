package source_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vayu/ingest/runner"
	"vayu/ingest/source"
	"vayu/schema"
)

const roof = `
about: a roof
licence: CC0
attribution: the roof
auth: {header: {name: X-Key, value: "${ROOF_TEST_KEY}"}}
request: {url: https://api.example.com/rows}
records: rows
station: {id: id}
time: {field: t, format: rfc3339}
readings:
  pm25: {value: v, unit: µg/m³}
`

// folder writes descriptions into a folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestDescriptionsOfAFolder(t *testing.T) {
	t.Setenv("ROOF_TEST_KEY", "key")
	all := catalogue(t, folder(t, map[string]string{
		"roof-a.yaml": roof, "roof-b.yml": roof, "notes.txt": "no description",
		"openaq.yaml": roof, "broken.yaml": strings.Replace(roof, "pm25", "pm26", 1),
	}))
	if e := all.Entry("openaq"); e.About != "a roof" {
		t.Errorf("openaq is %q, want the file of the folder", e.About)
	}
	names, err := all.Parse("roof-a,roof-b,cpcb")
	if err != nil {
		t.Fatal(err)
	}
	var feeds []runner.Feed
	for _, name := range names {
		feed, err := all.Feed(schema.Live, name, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		feeds = append(feeds, feed)
	}
	if len(feeds) != 3 || feeds[0].Name != "roof-a" || feeds[0].Schedule != "@hourly" {
		t.Fatalf("feeds %v", feeds)
	}
	sum := sha256.Sum256([]byte(roof))
	if got, want := feeds[0].ConfigSHA256, hex.EncodeToString(sum[:]); got != want {
		t.Errorf("the hash of a description is %q, want that of its file, %q", got, want)
	}
	if feeds[2].ConfigSHA256 == "" || feeds[2].ConfigSHA256 == feeds[0].ConfigSHA256 {
		t.Errorf("the hash of a source in Go is %q", feeds[2].ConfigSHA256)
	}
	if _, err := all.Feed(schema.Sandbox, "roof-a", time.Now); err == nil {
		t.Error("a description was accepted for the sandbox")
	}
	_, err = all.Parse("broken")
	if err == nil || !strings.Contains(err.Error(), `did you mean "pm25"?`) || !strings.Contains(err.Error(), "broken.yaml line 11") {
		t.Errorf("error %v, want the line and a suggestion", err)
	}
	if _, err := all.New("broken", time.Now); err == nil {
		t.Error("an invalid description was built")
	}
	t.Setenv("ROOF_TEST_KEY", "")
	if _, err := all.New("roof-a", time.Now); err == nil || !strings.Contains(err.Error(), "ROOF_TEST_KEY is not set") {
		t.Errorf("error %v, want the missing variable", err)
	}
}

func TestNamesAreUnique(t *testing.T) {
	t.Parallel()
	for want, files := range map[string]map[string]string{
		`"cpcb" belongs to a source of the program`: {"cpcb.yaml": roof},
		`has the name "a", too`:                     {"a.yaml": roof, "b.yaml": "name: a" + roof},
	} {
		if _, err := source.Open(source.DefaultConfig(), folder(t, files), true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %s", err, want)
		}
	}
	missing := filepath.Join(t.TempDir(), "nowhere")
	if _, err := source.Open(source.DefaultConfig(), missing, true); err == nil {
		t.Error("a missing folder was accepted, though it is required")
	}
	if _, err := source.Open(source.DefaultConfig(), missing, false); err != nil {
		t.Error(err)
	}
}
