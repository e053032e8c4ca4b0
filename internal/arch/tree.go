package arch

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxLines is where a file holds a second thing that wants its own room.
const maxLines = 500

// counted are the kinds of files that people write and read.
var counted = []string{".css", ".go", ".html", ".js", ".md", ".mjs", ".sh", ".sql", ".ts", ".yaml", ".yml"}

// checkTop allows the folders of the house only.
func checkTop(fsys fs.FS) []Fault {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return []Fault{{Path: ".", Text: err.Error()}}
	}
	var faults []Fault
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() && !strings.HasPrefix(name, ".") && !slices.Contains(topFolders, name) && !slices.Contains(madeFolders, name) {
			faults = append(faults, Fault{Path: name, Text: "is no folder of the house; see internal/arch"})
		}
	}
	return faults
}

func checkLength(name string, text []byte, faults *[]Fault) {
	lines := bytes.Count(text, []byte("\n"))
	if slices.Contains(counted, path.Ext(name)) && lines > maxLines {
		*faults = append(*faults, Fault{Path: name, Text: fmt.Sprintf("has %d lines, more than %d", lines, maxLines)})
	}
}

// guide is the document whose table says where things are.
const guide = "ARCHITECTURE.md"

var (
	guideHeading = regexp.MustCompile(`(?i)^#+ .*where is`)
	guidePath    = regexp.MustCompile("`([^`]+)`")
)

// checkGuide finds the paths, in backquotes in the last column, of the table
// under "Where is …", and demands that each exists.
func checkGuide(fsys fs.FS) []Fault {
	text, err := fs.ReadFile(fsys, guide)
	if err != nil {
		return []Fault{{Path: guide, Text: "is missing"}}
	}
	var faults []Fault
	rows, inside := 0, false
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "#") {
			inside = guideHeading.MatchString(line)
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !inside || len(cells) < 2 {
			continue
		}
		for _, m := range guidePath.FindAllStringSubmatch(cells[len(cells)-1], -1) {
			rows++
			if _, err := fs.Stat(fsys, strings.TrimSuffix(m[1], "/")); err != nil {
				faults = append(faults, Fault{guide, i + 1, fmt.Sprintf("%s does not exist", m[1])})
			}
		}
	}
	if rows == 0 {
		faults = append(faults, Fault{Path: guide, Text: `has no table "Where is …" with paths in backquotes`})
	}
	return faults
}
