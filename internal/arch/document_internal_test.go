package arch

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxFrontLines limits a front page, so that it can be read in one go.
	maxFrontLines = 200
	// maxColumns limits a line, so that it fits a terminal and has a readable diff.
	maxColumns = 120
)

// frontPages are the documents that newcomers read first.
var frontPages = []string{"ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"}

// narrowFolders hold documents whose lines are checked, beside the front pages.
var narrowFolders = []string{"docs/guides/", "docs/glossary.md"}

var (
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	inlineCode = regexp.MustCompile("`[^`]*`")
	scheme     = regexp.MustCompile(`^[a-z]+:`)
)

// checkDocument checks a Markdown file: the targets of its links. For front pages and guides it
// also checks the length, the columns and the paths that they name.
func checkDocument(fsys fs.FS, name string, text string, faults *[]Fault) {
	front := slices.Contains(frontPages, name)
	narrow := front || slices.ContainsFunc(narrowFolders, func(p string) bool { return strings.HasPrefix(name, p) })
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if front && len(lines) > maxFrontLines {
		*faults = append(*faults, Fault{Path: name, Text: fmt.Sprintf("has %d lines, more than %d", len(lines), maxFrontLines)})
	}
	fenced := false
	for i, line := range lines {
		if narrow && utf8.RuneCountInString(line) > maxColumns {
			*faults = append(*faults, Fault{name, i + 1, fmt.Sprintf("has more than %d columns", maxColumns)})
		}
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		if front {
			checkNamed(fsys, name, i+1, line, faults)
		}
		for _, m := range link.FindAllStringSubmatch(inlineCode.ReplaceAllString(line, ""), -1) {
			if fault := brokenLink(fsys, name, m[1]); fault != "" {
				*faults = append(*faults, Fault{name, i + 1, fault})
			}
		}
	}
}

// checkNamed requires that a path in backquotes exists if it is in a folder of the project. Paths with NAME
// or * are not checked. checkGuide checks the rows of the guide.
func checkNamed(fsys fs.FS, name string, at int, line string, faults *[]Fault) {
	if _, isRow := firstCell(line); isRow && name == guide {
		return
	}
	for _, m := range quoted.FindAllStringSubmatch(line, -1) {
		folder, _, below := strings.Cut(m[1], "/")
		if !below || !slices.Contains(topFolders, folder) || strings.ContainsAny(m[1], " *{$") || strings.Contains(m[1], "NAME") {
			continue
		}
		if _, err := fs.Stat(fsys, strings.TrimSuffix(m[1], "/")); err != nil {
			*faults = append(*faults, Fault{name, at, m[1] + " does not exist"})
		}
	}
}

// brokenLink returns the error of a link of a document to another file or to a heading; empty if it
// is valid. Links to other hosts are not checked.
func brokenLink(fsys fs.FS, name, target string) string {
	if scheme.MatchString(target) {
		return ""
	}
	file, anchor, _ := strings.Cut(target, "#")
	to := name
	if file != "" {
		to = path.Join(path.Dir(name), file)
	}
	if _, err := fs.Stat(fsys, to); err != nil {
		return fmt.Sprintf("links to %s, which does not exist", target)
	}
	if anchor == "" || path.Ext(to) != ".md" {
		return ""
	}
	text, err := fs.ReadFile(fsys, to)
	if err != nil || !slices.Contains(headingAnchors(string(text)), anchor) {
		return fmt.Sprintf("links to %s, which has no such heading", target)
	}
	return ""
}

// headingAnchors returns the anchors of the headings of a document, as GitHub makes them.
func headingAnchors(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if heading := strings.TrimLeft(line, "#"); heading != line && strings.HasPrefix(heading, " ") {
			out = append(out, anchorOf(strings.TrimSpace(heading)))
		}
	}
	return out
}

// anchorOf keeps letters, digits, hyphens and underscores of a heading, in lower case,
// and turns spaces into hyphens.
func anchorOf(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
