package arch_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// repeated returns a text for each letter from a to e. %c in the format stands for the letter.
func repeated(format string) string {
	var b strings.Builder
	for letter := 'a'; letter <= 'e'; letter++ {
		fmt.Fprintf(&b, format, letter)
	}
	return b.String()
}

// listed returns a project with five items of each kind, whose guide names the registries.
func listed() map[string]string {
	return map[string]string{
		"ARCHITECTURE.md":   "# Layout\n| `query`, `schema`, `internal`, `docs` | x |\n",
		"schema/account.go": "package x\n" + repeated("// Scope = \"%c:read\"\n"),
		"schema/event.go":   "package x\n" + repeated("// EventType = \"event.%c\"\n"),
		"schema/problem.go": "package x\n" + repeated("// Code = \"code_%c\"\n"),
		"internal/dashboard/web/src/account/actions.ts": repeated("\t'key.%c',\n"),
		"schema/sdk/go/client.go":                       "package x\n// paths {" + repeated("\"/v1/%c\", ") + "}\n",
		"query/statistics/view.go":                      "package x\n" + repeated("// {name: \"view_%c\"}\n"),
		"vayu.example.yaml":                             repeated("setting-%c: 1\n"),
		"docs/scopes.md":                                repeated("`%c:read`\n"),
		"CONTRIBUTING.md": "## New endpoint\n`schema/account.go`, `schema/event.go`, `schema/problem.go`\n" +
			"`schema/sdk/go/client.go`, `internal/dashboard/web/src/account/actions.ts`, `docs/scopes.md`\n" +
			"## New view\n`query/statistics/view.go`\n## New setting\n`vayu.example.yaml`\n",
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, text, want string }{
		"right": {"docs/b.md", "", ""},
		"registry without a name": {
			"docs/b.md", repeated("`%c:read`\n"),
			`CONTRIBUTING.md: does not name docs/b.md under "New endpoint"; it has all scopes`,
		},
		"registry of CI": {
			".ci/check", repeated("view_%c "),
			`CONTRIBUTING.md: does not name .ci/check under "New view"; it has all views`,
		},
		"registry in another section": {
			"docs/scopes.md", repeated("`%c:read`\n") + repeated("setting-%c\n"),
			`CONTRIBUTING.md: does not name docs/scopes.md under "New setting"; it has all settings`,
		},
		"registry that lacks an item": {"docs/scopes.md", "a:read b:read d:read e:read", `docs/scopes.md: has all scopes but "c:read"`},
		"some of the items":           {"docs/scopes.md", "a:read b:read d:read", ""},
		"parts of longer names":       {"docs/b.md", repeated("`data:read` %[1]c:reader "), ""},
		"testdata":                    {"schema/testdata/a.md", repeated("%c:read "), ""},
		"made by .ci/sdk":             {"schema/sdk/python/src/vayu_sdk/contract.py", repeated("%c:read "), ""},
		"decision":                    {"docs/decisions/1.md", repeated("%c:read "), ""},
		"source without items":        {"schema/event.go", "package x\n", "schema/event.go: has 0 event types, where checkLists expects at least 5"},
		"placeholder without a file":  {"CONTRIBUTING.md", listed()["CONTRIBUTING.md"] + "`query/NAME/*.sql`\n", "CONTRIBUTING.md:8: query/NAME/*.sql has no file"},
		"placeholder":                 {"CONTRIBUTING.md", listed()["CONTRIBUTING.md"] + "`query/*/NAME.go`, `x.Y`, `go test ./x/...`\n", ""},
		"file at the root":            {"CONTRIBUTING.md", listed()["CONTRIBUTING.md"] + "`.env.example`\n", "CONTRIBUTING.md:8: .env.example has no file"},
		"other section":               {"CONTRIBUTING.md", listed()["CONTRIBUTING.md"] + "## Else\n`.env.example`\n", ""},
		"section without a path": {
			"CONTRIBUTING.md", strings.Replace(listed()["CONTRIBUTING.md"], "`vayu.example.yaml`", "", 1),
			`CONTRIBUTING.md: has no section "New setting" with paths in backquotes` + "\n" +
				`CONTRIBUTING.md: does not name vayu.example.yaml under "New setting"; it has all settings`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := listed()
			maps.Copy(files, map[string]string{c.path: c.text})
			checkDocuments(t, files, c.want)
		})
	}
}
