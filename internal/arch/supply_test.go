package arch_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lockPackage is a package of package-lock.json.
type lockPackage struct {
	Version   string   `json:"version"`
	Resolved  string   `json:"resolved"`
	Integrity string   `json:"integrity"`
	Optional  bool     `json:"optional"`
	OS        []string `json:"os"`
	CPU       []string `json:"cpu"`
	Libc      []string `json:"libc"`
	Script    bool     `json:"hasInstallScript"`
}

// installs reports whether npm installs the package on linux x64 with glibc.
func (p lockPackage) installs() bool {
	on := func(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }
	return !p.Optional || on(p.OS, "linux") && on(p.CPU, "x64") && on(p.Libc, "glibc")
}

// lockPackages returns the packages of package-lock.json by name@version.
func lockPackages(t *testing.T) map[string]lockPackage {
	t.Helper()
	var lock struct {
		Packages map[string]lockPackage `json:"packages"`
	}
	if err := json.Unmarshal([]byte(projectFile(t, "package-lock.json")), &lock); err != nil {
		t.Fatal(err)
	}
	delete(lock.Packages, "") // the project itself
	packages := map[string]lockPackage{}
	for path, p := range lock.Packages {
		packages[strings.TrimPrefix(path, "node_modules/")+"@"+p.Version] = p
	}
	return packages
}

func projectFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// lines returns the lines of a file without comments.
func lines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// TestLockHasIntegrity finds packages that npm would install unverified.
func TestLockHasIntegrity(t *testing.T) {
	t.Parallel()
	packages := lockPackages(t)
	known := regexp.MustCompile(`^sha512-[A-Za-z0-9+/]{86}==$`)
	without := []string{}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		p := packages[name]
		if known.MatchString(p.Integrity) {
			continue
		}
		without = append(without, name)
		if p.installs() {
			t.Errorf("%s: integrity %q, and npm installs it on linux x64; want a SHA-512", name, p.Integrity)
		}
	}
	want := slices.Sorted(slices.Values(lines(projectFile(t, ".ci/supply/no-integrity.txt"))))
	if diff := cmp.Diff(want, without); diff != "" {
		t.Errorf("packages without integrity (-.ci/supply/no-integrity.txt +package-lock.json):\n%s", diff)
	}
}

// TestLockNamesNoRegistry keeps addresses of a developer's mirror out of the lock file.
func TestLockNamesNoRegistry(t *testing.T) {
	t.Parallel()
	for name, p := range lockPackages(t) {
		if p.Resolved != "" {
			t.Errorf("%s: resolved %q, want none; .npmrc has omit-lockfile-registry-resolved", name, p.Resolved)
		}
	}
}

// TestInstallRunsNoScripts finds a new package that needs its install script, and a lost setting.
func TestInstallRunsNoScripts(t *testing.T) {
	t.Parallel()
	if !slices.Contains(lines(projectFile(t, ".npmrc")), "ignore-scripts=true") {
		t.Error(".npmrc has no ignore-scripts=true")
	}
	for name, p := range lockPackages(t) {
		if p.Script && !strings.HasPrefix(name, "esbuild@") {
			t.Errorf("%s has an install script, which npm does not run; check that the package works without it", name)
		}
	}
}
