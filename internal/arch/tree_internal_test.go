package arch

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// maxLines is the length at which a file should be split.
const maxLines = 500

// counted are the suffixes of hand-written files.
var counted = []string{".css", ".go", ".html", ".js", ".md", ".mjs", ".sh", ".sql", ".ts", ".yaml", ".yml"}

// checkTop reports the folders beside go.mod that are not allowed there.
func checkTop(fsys fs.FS) []Fault {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return []Fault{{Path: ".", Text: err.Error()}}
	}
	var faults []Fault
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() && !strings.HasPrefix(name, ".") && !slices.Contains(topFolders, name) && !slices.Contains(madeFolders, name) {
			faults = append(faults, Fault{Path: name, Text: "is not in the list of top-level folders; see internal/arch"})
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
