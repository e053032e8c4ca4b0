// Command sbom writes a software bill of materials in CycloneDX JSON: the Go modules that are
// linked into a program, and the npm packages of a lock file.
//
//	sbom -version v1.2.3 -time 2026-11-23T00:00:00Z bin/vayu package-lock.json > sbom.cdx.json
//
// The same inputs give the same bytes, so that an archive with the document is reproducible.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	version := flag.String("version", "", "version of the program")
	at := flag.String("time", "", "time of the document (RFC 3339); of the commit, for reproducible builds")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: sbom -version VERSION -time TIME PROGRAM LOCKFILE")
		os.Exit(2)
	}
	if err := write(os.Stdout, *version, *at, flag.Arg(0), flag.Arg(1)); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// write writes the document for a program and a lock file.
func write(w io.Writer, version, at, program, lockfile string) error {
	when, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return fmt.Errorf("reading the time: %w", err)
	}
	modules, err := goModules(program)
	if err != nil {
		return fmt.Errorf("reading the modules of %q: %w", program, err)
	}
	packages, err := npmPackages(lockfile)
	if err != nil {
		return fmt.Errorf("reading the packages of %q: %w", lockfile, err)
	}
	components := append(modules, packages...)
	// npm can install a package into several folders. Of entries with the same package URL, only the first stays.
	slices.SortStableFunc(components, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	components = slices.CompactFunc(components, func(a, b cdx.Component) bool { return a.BOMRef == b.BOMRef })

	root := cdx.Component{BOMRef: "vayu", Type: cdx.ComponentTypeApplication, Name: "vayu", Version: version, Licenses: license("Apache-2.0")}
	refs := make([]string, len(components))
	for i, c := range components {
		refs[i] = c.BOMRef
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: when.UTC().Format(time.RFC3339), Component: &root}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: root.BOMRef, Dependencies: &refs}}
	return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
}

// library returns a component that is identified by its package URL.
func library(purl, name, version string) cdx.Component {
	return cdx.Component{BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: purl}
}

// license returns the SPDX expression of a package, or nil without one.
func license(expression string) *cdx.Licenses {
	if expression == "" {
		return nil
	}
	return &cdx.Licenses{{Expression: expression}}
}
