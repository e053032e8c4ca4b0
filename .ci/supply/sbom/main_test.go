package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// The test's own executable is the program: it has the modules of this folder.
func document(t *testing.T) []byte {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := write(&out, "v1.2.3", "2026-11-23T05:30:00+05:30", program, "../../../package-lock.json"); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestDocument(t *testing.T) {
	t.Parallel()
	text := document(t)
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if got, want := bom.Metadata.Timestamp, "2026-11-23T00:00:00Z"; got != want {
		t.Errorf("timestamp %q, want %q", got, want)
	}
	if got, want := bom.Metadata.Component.Version, "v1.2.3"; got != want {
		t.Errorf("version %q, want %q", got, want)
	}
	hashes := map[string]bool{} // by package URL
	for _, c := range *bom.Components {
		if _, twice := hashes[c.PackageURL]; twice {
			t.Errorf("%s is there twice", c.PackageURL)
		}
		hashes[c.PackageURL] = c.Hashes != nil
	}
	if !hashes["pkg:golang/github.com/CycloneDX/cyclonedx-go@v0.12.0"] {
		t.Error("a module that is linked is missing, or has no hash")
	}

	var lock struct {
		Packages map[string]struct {
			Name, Version, Integrity string
		}
	}
	file, err := os.ReadFile("../../../package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(file, &lock); err != nil {
		t.Fatal(err)
	}
	for path, p := range lock.Packages {
		_, name, ok := strings.Cut(path, "node_modules/")
		if !ok || strings.Contains(name, "node_modules/") || p.Name != "" {
			continue
		}
		purl := "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version
		if hash, ok := hashes[purl]; !ok || hash != (p.Integrity != "") {
			t.Errorf("%s: listed %t, with hash %t; the lock file has integrity %q", purl, ok, hash, p.Integrity)
		}
	}
}

func TestDocumentIsReproducible(t *testing.T) {
	t.Parallel()
	if first, second := document(t), document(t); !bytes.Equal(first, second) {
		t.Error("two runs wrote different documents")
	}
}
