package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// npmPackages returns every package of a lock file. It marks packages for other platforms as optional. Development
// packages get a property, and stay in the list because the dashboard is built from some of them.
func npmPackages(lockfile string) ([]cdx.Component, error) {
	text, err := os.ReadFile(lockfile)
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Name      string `json:"name"` // name of the package; "" if its folder has the same name
			Version   string `json:"version"`
			Integrity string `json:"integrity"`
			License   string `json:"license"`
			Dev       bool   `json:"dev"`
			Optional  bool   `json:"optional"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, err
	}
	delete(lock.Packages, "") // the project itself
	var components []cdx.Component
	for _, path := range slices.Sorted(maps.Keys(lock.Packages)) {
		p := lock.Packages[path]
		name := p.Name
		if name == "" {
			name = path[strings.LastIndex(path, "node_modules/")+len("node_modules/"):]
		}
		c := library("pkg:npm/"+strings.Replace(name, "@", "%40", 1)+"@"+p.Version, name, p.Version)
		c.Licenses = license(p.License)
		if p.Optional {
			c.Scope = cdx.ScopeOptional
		}
		if p.Dev {
			c.Properties = &[]cdx.Property{{Name: "cdx:npm:package:development", Value: "true"}}
		}
		if p.Integrity != "" {
			sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.Integrity, "sha512-"))
			if err != nil {
				return nil, fmt.Errorf("package %s: integrity %q: %w", name, p.Integrity, err)
			}
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA512, Value: hex.EncodeToString(sum)}}
		}
		components = append(components, c)
	}
	return components, nil
}
