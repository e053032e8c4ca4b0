package arch

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// lists is the document whose sections list the files that a new endpoint, view or setting touches.
const lists = "CONTRIBUTING.md"

// minItems is the least number of items of a kind. With fewer, many files would have all of them by chance.
const minItems = 5

// kind is a kind of items. A file that has all items of a kind is a registry: a new item touches it. So the guide must
// name the file, and a file that has all items but one lacks that one.
type kind struct {
	section string         // heading of the list
	name    string         // of several items
	source  string         // registry from which the rule reads the items
	item    *regexp.Regexp // its group is an item
}

// kinds are the kinds of items that an endpoint, view or setting can have. .ci/new-source checks the list of a source.
var kinds = []kind{
	{"New endpoint", "scopes", "schema/account.go", regexp.MustCompile(`\bScope += "([^"]+)"`)},
	{"New endpoint", "event types", "schema/event.go", regexp.MustCompile(`\bEventType += "([^"]+)"`)},
	{"New endpoint", "error codes", "schema/problem.go", regexp.MustCompile(`\bCode += "([^"]+)"`)},
	{"New endpoint", "actions", "internal/dashboard/web/src/account/actions.ts", regexp.MustCompile(`(?m)^\t'([^']+)',$`)},
	{"New endpoint", "POSTs without Idempotency-Key", "schema/sdk/go/client.go", regexp.MustCompile(`[{ ]"(/[^"]+)"[,}]`)},
	{"New view", "views", "query/statistics/view.go", regexp.MustCompile(`\{name: "([^"]+)"`)},
	{"New setting", "settings", "vayu.example.yaml", regexp.MustCompile(`(?m)^([a-z-]+):`)},
}

// namesFile matches what stands in backquotes if it is a path from the root of the project.
var namesFile = regexp.MustCompile(`^[\w.*-]*(/[\w.*-]+)+$|^[\w.-]+\.(md|ya?ml|example)$`)

// checkLists checks the sections of the guide: each path that they name exists, and they name each registry.
func checkLists(fsys fs.FS) []Fault {
	text, err := fs.ReadFile(fsys, lists)
	if err != nil {
		return nil // documents that link to it have a fault
	}
	faults, named := namedFiles(fsys, string(text))
	faultf := func(name, format string, args ...any) {
		faults = append(faults, Fault{Path: name, Text: fmt.Sprintf(format, args...)})
	}
	items := make([][]string, len(kinds))
	for i, k := range kinds {
		if named[k.section] == nil {
			faultf(lists, "has no section %q with paths in backquotes", k.section)
		}
		source, _ := fs.ReadFile(fsys, k.source)
		for _, m := range k.item.FindAllSubmatch(source, -1) {
			items[i] = append(items[i], string(m[1]))
		}
		if len(items[i]) < minItems {
			faultf(k.source, "has %d %s, where checkLists expects at least %d", len(items[i]), k.name, minItems)
			items[i] = nil
		}
	}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name != ".ci" && skipped(name) || name == "docs/decisions"):
			return fs.SkipDir
		case !d.Type().IsRegular() || name == "CHANGELOG.md" || name == madeFile:
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		for i, k := range kinds {
			switch lacks, registry := lacking(string(text), items[i]); {
			case !registry:
			case lacks != "":
				faultf(name, "has all %s but %q", k.name, lacks)
			case !slices.Contains(named[k.section], name):
				faultf(lists, "does not name %s under %q; it has all %s", name, k.section, k.name)
			}
		}
		return nil
	})
	if err != nil {
		faultf(lists, "%v", err)
	}
	return faults
}

// namedFiles returns the paths in backquotes by section, and a fault for each that no file has. NAME stands for any name.
func namedFiles(fsys fs.FS, text string) (faults []Fault, named map[string][]string) {
	named = map[string][]string{}
	section := ""
	for i, line := range strings.Split(text, "\n") {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			section = heading
		}
		if !strings.HasPrefix(section, "New ") {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(line, -1) {
			if !namesFile.MatchString(m[1]) {
				continue
			}
			named[section] = append(named[section], m[1])
			if found, err := fs.Glob(fsys, strings.ReplaceAll(path.Clean(m[1]), "NAME", "*")); err != nil || len(found) == 0 {
				faults = append(faults, Fault{lists, i + 1, m[1] + " has no file"})
			}
		}
	}
	return faults, named
}

// lacking reports whether a text has all items, or all but one, and returns that one. Without items no text has them.
func lacking(text string, items []string) (lacks string, registry bool) {
	for _, item := range items {
		switch {
		case hasName(text, item):
		case lacks != "":
			return "", false
		default:
			lacks = item
		}
	}
	return lacks, len(items) > 0
}

// hasName reports whether a text has a name that is not part of a longer one.
func hasName(text, name string) bool {
	part := func(c byte) bool {
		return c == '-' || c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
	}
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(name)
		if (begin == 0 || !part(text[begin-1])) && (end == len(text) || !part(text[end])) {
			return true
		}
		at = begin + 1
	}
}
