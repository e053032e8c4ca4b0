package arch

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Size is one figure about the size of the project.
type Size struct {
	Name string
	// Is, Target and Limit are the present figure, the desired one and the largest allowed one.
	Is, Target, Limit int
}

// Limits of the project. A commit that makes the project smaller lowers them. One that raises a limit has a decision record.
const (
	limitOutside  = 66_519 // lines outside airFolders
	limitSupport  = 3_118  // lines of test support outside _test.go
	limitInternal = 27     // per cent of non-test Go
)

// packageLines and packageFiles limit the size of a package without its tests.
const (
	packageLines = 1_800
	packageFiles = 20
)

// airFolders hold the code of air quality. limitOutside excludes them, because they grow with each source.
var airFolders = []string{"ingest", "query", "pipeline/airquality", "schema"}

// supportFolders hold test support outside _test.go, as do the packages that isSupport finds by name.
var supportFolders = []string{"internal/failpoint", testSupport}

// Sizes measures the project whose root fsys is. The faults are figures beyond their
// limit, and packages that are too large.
func Sizes(fsys fs.FS) ([]Size, []Fault, error) {
	type room struct{ files, lines int }
	rooms := map[string]room{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(name):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "."):
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		r := rooms[path.Dir(name)]
		rooms[path.Dir(name)] = room{r.files + 1, r.lines + bytes.Count(text, []byte("\n"))}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("measuring the project: %w", err)
	}
	var all, internal, support, outside, large int
	var faults []Fault
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		r := rooms[name]
		all += r.lines
		if isSupport(name) {
			support += r.lines
		}
		if !within(name, airFolders) {
			outside += r.lines
		}
		if top(name) == "internal" {
			internal += r.lines
		}
		if r.files > packageFiles || r.lines > packageLines {
			large++
			faults = append(faults, Fault{Path: name, Text: fmt.Sprintf("has %d files and %d lines; a package has at most %d and %d: split it", r.files, r.lines, packageFiles, packageLines)})
		}
	}
	sizes := []Size{
		{"lines outside " + strings.Join(airFolders, ", "), outside, 48_000, limitOutside},
		{"lines of test support outside _test.go", support, 3_500, limitSupport},
		{"internal, per cent of non-test Go", internal * 100 / max(all, 1), 30, limitInternal},
		{"packages of more than 20 files or 1,800 lines", large, 0, 0},
	}
	for _, s := range sizes {
		if s.Is > s.Limit {
			faults = append(faults, Fault{Path: ".", Text: fmt.Sprintf("%s: %d, the limit is %d", s.Name, s.Is, s.Limit)})
		}
	}
	return sizes, faults, nil
}

// isSupport reports whether a folder holds test support: by its path, or by a name that ends with "test". The source
// simulator is not: the running program fills the sandbox with it.
func isSupport(name string) bool {
	return within(name, supportFolders) || strings.HasSuffix(path.Base(name), "test")
}
