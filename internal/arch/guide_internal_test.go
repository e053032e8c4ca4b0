package arch

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// guide is the document whose table under "Layout" describes the folders.
const guide = "ARCHITECTURE.md"

// maxLayoutRows limits the table of the guide. A layout that needs more rows is hard to understand.
const maxLayoutRows = 30

var (
	layoutHeading = regexp.MustCompile(`(?i)^#+ .*layout`)
	quoted        = regexp.MustCompile("`([^`]+)`")
)

// checkGuide checks the layout table of the guide. Each path in backquotes in the first column must exist.
// Each top folder needs a row, and the table must be short.
func checkGuide(fsys fs.FS) []Fault {
	text, err := fs.ReadFile(fsys, guide)
	if err != nil {
		return []Fault{{Path: guide, Text: "is missing"}}
	}
	var faults []Fault
	var described []string
	rows, inside := 0, false
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "#") {
			inside = layoutHeading.MatchString(line)
		}
		cell, isRow := firstCell(line)
		if !inside || !isRow {
			continue
		}
		paths := quoted.FindAllStringSubmatch(cell, -1)
		if len(paths) > 0 {
			rows++
		}
		for _, m := range paths {
			name := strings.TrimSuffix(m[1], "/")
			described = append(described, top(name))
			if _, err := fs.Stat(fsys, name); err != nil {
				faults = append(faults, Fault{guide, i + 1, m[1] + " does not exist"})
			}
		}
	}
	if rows == 0 {
		return append(faults, Fault{Path: guide, Text: `has no table "Layout" with paths in backquotes`})
	}
	if rows > maxLayoutRows {
		faults = append(faults, Fault{Path: guide, Text: fmt.Sprintf("describes %d folders, more than %d", rows, maxLayoutRows)})
	}
	for _, folder := range topFolders {
		if _, err := fs.Stat(fsys, folder); err == nil && !slices.Contains(described, folder) {
			faults = append(faults, Fault{Path: guide, Text: "does not describe " + folder})
		}
	}
	return faults
}

// firstCell returns the first cell of a row of a Markdown table.
func firstCell(line string) (string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "|")
	cell, _, _ := strings.Cut(rest, "|")
	return cell, ok
}
