package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// goModules returns the modules that Go's linker recorded in a program, and the standard library.
func goModules(program string) ([]cdx.Component, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	// A GoVersion such as "go1.26.8 X:…" lists experiments after the version.
	release, _, _ := strings.Cut(strings.TrimPrefix(info.GoVersion, "go"), " ")
	components := []cdx.Component{library("pkg:golang/std@"+release, "std", release)}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		// In a package URL, an unescaped "+" would stand for a space.
		c := library("pkg:golang/"+m.Path+"@"+strings.ReplaceAll(m.Version, "+", "%2B"), m.Path, m.Version)
		// m.Sum is the checksum in go.sum: a SHA-256 of the list of the module's files and their hashes, not of an
		// archive.
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
		if err != nil || len(sum) == 0 {
			return nil, fmt.Errorf("module %s %s has the checksum %q, which is not that of go.sum", m.Path, m.Version, m.Sum)
		}
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
		components = append(components, c)
	}
	return components, nil
}
