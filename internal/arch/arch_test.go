package arch_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/arch"
)

// TestProject applies the rules to the project itself.
func TestProject(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	faults, err := arch.Check(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Error(f)
	}
}

// TestWrongImportIsFound applies the rules to a small project on disk with a stage that imports another.
func TestWrongImportIsFound(t *testing.T) {
	t.Parallel()
	faults, err := arch.Check(os.DirFS("testdata/wrongarrow"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"ingest/loader.go:4: imports query: a stage does not import another; declare the interface that you need, and pass it in cmd"}
	if diff := cmp.Diff(want, texts(faults)); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func texts(faults []arch.Fault) []string {
	out := []string{}
	for _, f := range faults {
		out = append(out, f.String())
	}
	return out
}

// TestRules has a file for each rule that violates it, and one that just does not.
func TestRules(t *testing.T) {
	t.Parallel()
	long := "package x\n" + strings.Repeat("\n", 500)
	for name, c := range map[string]struct{ path, text, want string }{
		"cmd imports all":                     {"cmd/vayu/a.go", `import ("vayu/ingest"; "vayu/internal/lifecycle"; "vayu/schema")`, ""},
		"stage imports below":                 {"query/a.go", `import ("vayu/internal/lifecycle"; "vayu/schema"; "vayu/query/places")`, ""},
		"stage imports stage":                 {"query/places/a.go", `import "vayu/pipeline/airquality"`, "a stage does not import"},
		"test imports stage":                  {"query/a_test.go", `import "vayu/ingest"`, "a stage does not import"},
		"test of a stage uses the outbox":     {"pipeline/a_test.go", `import "vayu/dispatch/outbox"`, ""},
		"stage imports the outbox":            {"pipeline/a.go", `import "vayu/dispatch/outbox"`, "a stage does not import"},
		"test support imports stage":          {"internal/testing/chaos/a.go", `import "vayu/dispatch/outbox"`, ""},
		"stage imports cmd":                   {"query/a.go", `import "vayu/cmd/vayu"`, "nothing imports cmd"},
		"internal imports stage":              {"internal/lifecycle/a.go", `import "vayu/ingest"`, "does not import stages"},
		"internal downwards":                  {"internal/columnstore/a.go", `import "vayu/internal/columnstore/embedded"`, ""},
		"internal upwards":                    {"internal/columnstore/embedded/a.go", `import "vayu/internal/columnstore"`, "internalMay"},
		"internal test uses its test package": {"internal/columnstore/a_test.go", `import "vayu/internal/columnstore/columnstoretest"`, ""},
		"test package in production":          {"internal/columnstore/a.go", `import "vayu/internal/columnstore/columnstoretest"`, "internalMay"},
		"internal not placed":                 {"internal/novel/a.go", ``, "give internal/novel a row"},
		"schema imports internal":             {"schema/a.go", `import "vayu/internal/lifecycle"`, "only itself"},
		"schema test runs the engine":         {"schema/a_test.go", `import "vayu/internal/columnstore"`, ""},
		"schema test imports stage":           {"schema/a_test.go", `import "vayu/query"`, "only itself"},
		"schema does I/O":                     {"schema/a.go", `import "net/http"`, "schema does no I/O"},
		"schema reads the clock":              {"schema/naqi/a.go", `import clock "time"; var x = clock.Now()`, "reads no clock"},
		"schema holds times":                  {"schema/a.go", `import "time"; type t struct { at time.Time }`, ""},
		"others read the clock":               {"query/a.go", `import "time"; var x = time.Now()`, ""},
		"sleep in a test":                     {"query/a_test.go", `import "time"; func f() { time.Sleep(1) }`, "is a guess"},
		"sleep in a bubble":                   {"query/a_test.go", `import ("time"; "testing/synctest"); func f() { time.Sleep(1); synctest.Wait() }`, ""},
		"word in a comment":                   {"query/a.go", "// Whoever asks waits.\nvar x int", "Whoever"},
		"word in an identifier":               {"query/a.go", "var lastTold int", "Told"},
		"word in an error":                    {"query/a.go", `import "errors"; var e = errors.New("nobody answers")`, "nobody"},
		"column in a statement":               {"query/a.go", `const q = "SELECT asked, told FROM x"`, ""},
		"word in a test":                      {"query/a_test.go", "// Nobody waits.", "Nobody"},
		"word in a document":                  {"docs/a.md", "a\nIt was asked.\n", `docs/a.md:2: has the word "asked"`},
		"word in TypeScript":                  {"query/a.ts", "const told = 1;\n", "told"},
		"word in the glossary":                {"docs/glossary.md", "| term | never asked |\n", ""},
		"word in a migration":                 {"schema/migrations/a.sql", "-- asked\n", ""},
		"init":                                {"query/a.go", `func init() {}`, "init runs in every"},
		"method init":                         {"query/a.go", `type t int; func (t) init() {}`, ""},
		"unknown folder":                      {"lib/a.go", ``, "not in the list of top-level"},
		"made folder":                         {"node_modules/a/a.go", `import "vayu/cmd"; func init() {}`, ""},
		"file at the root":                    {"main.go", ``, "folder of go.mod"},
		"does not parse":                      {"query/a.go", `func (`, "expected"},
		"function without doc":                {"query/a.go", `func Do() {}`, "Do is exported"},
		"doc of another name":                 {"query/a.go", "// Doing is.\nfunc Do() {}", "Do is exported"},
		"function with doc":                   {"query/a.go", "// Do does.\nfunc Do() {}", ""},
		"type with article":                   {"query/a.go", "// A Thing is.\ntype Thing int", ""},
		"method of hidden type":               {"query/a.go", "type t int\nfunc (t) Do() {}", ""},
		"method of generic type":              {"query/a.go", "// T is.\ntype T[V any] int\nfunc (*T[V]) Do() {}", "Do is exported"},
		"group of constants":                  {"query/a.go", "// Units.\nconst (\nA = 1\nB = 2\n)", ""},
		"constant without doc":                {"query/a.go", "const A = 1", "A is exported"},
		"a promise":                           {"query/a.go", "// TO" + "DO: later", "do it"},
		"long SQL":                            {"schema/a.sql", strings.Repeat("\n", 501), "has 501 lines"},
		"long testdata":                       {"schema/testdata/a.sql", strings.Repeat("\n", 501), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := c.text
			if strings.HasSuffix(c.path, ".go") {
				text = "package x\n" + text
			}
			checkOne(t, c.path, text, c.want)
		})
	}
	for _, empty := range []string{"util", "helpers", "common", "models", "types", "manager", "util_test"} {
		checkOne(t, "query/a_test.go", "package "+empty, "does not describe")
	}
	checkOne(t, "query/a.go", long, "has 501 lines")
}

// checkOne expects one fault that contains want, or none, for a project with one file and a valid guide.
func checkOne(t *testing.T, path, text, want string) {
	t.Helper()
	faults, err := arch.Check(fstest.MapFS{
		path:              {Data: []byte(text)},
		"ARCHITECTURE.md": {Data: []byte("## Layout\n| `" + path + "` | a |\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(texts(faults), "\n")
	if want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("%s: faults %q, want %q", path, got, want)
	}
}

// TestCopiedFunctions has a project for each form of two functions that the rule finds, or just does not find.
func TestCopiedFunctions(t *testing.T) {
	t.Parallel()
	const body = "{ x++; y++\nreturn x + y }"
	for name, c := range map[string]struct{ path, text, want string }{
		"copy":           {"query/places/b.go", "func sum(x, y int) int { // a comment\nx++\ny++\n\nreturn x + y }", "sum has the same body as a function in query/a.go"},
		"copy in a test": {"query/places/b_test.go", "func sum(x, y int64) int64 " + body, "sum has the same body"},
		"same folder":    {"query/b_test.go", "func sum(x, y int64) int64 " + body, ""},
		"another body":   {"ingest/b.go", "func add(x, y int) int { x++; y++\nreturn y + x }", ""},
		"method":         {"ingest/b.go", "type t int\nfunc (t) add(x, y int) int " + body, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faults, err := arch.Check(fstest.MapFS{
				"query/a.go":      {Data: []byte("package x\nfunc add(x, y int) int " + body)},
				c.path:            {Data: []byte("package x\n" + c.text)},
				"ARCHITECTURE.md": {Data: []byte("## Layout\n| `query/a.go`, `" + c.path + "` | a |\n")},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(texts(faults), "\n"); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("faults %q, want %q", got, c.want)
			}
		})
	}
	two := "package x\nfunc add(x int) int { x++\nreturn x }"
	faults, err := arch.Check(fstest.MapFS{
		"query/a.go": {Data: []byte(two)}, "ingest/a.go": {Data: []byte(two)}, "ARCHITECTURE.md": {Data: []byte("## Layout\n| `query`, `ingest` | a |\n")},
	})
	if err != nil || len(faults) != 0 {
		t.Errorf("two statements: faults %v, error %v, want none", faults, err)
	}
}

func TestGuide(t *testing.T) {
	t.Parallel()
	const head = "# Layout\n| folder | content |\n|---|---|\n"
	for name, c := range map[string]struct{ text, want string }{
		"right":        {head + "| `query/a.go`, `query/` | `words` |\n| `schema` | x |\n", ""},
		"wrong path":   {head + "| `query/b.go` | x |\n| `schema` | x |\n", "ARCHITECTURE.md:4: query/b.go does not exist"},
		"other tables": {head + "| `query`, `schema` | x |\n# Else\n| `nowhere` | x |\n", ""},
		"folder lacks": {head + "| `query` | x |\n", "ARCHITECTURE.md: does not describe schema"},
		"no table":     {"# Something\n", `ARCHITECTURE.md: has no table "Layout" with paths in backquotes`},
		"too many":     {head + strings.Repeat("| `query`, `schema` | x |\n", 31), "ARCHITECTURE.md: describes 31 folders, more than 30"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkDocuments(t, map[string]string{"ARCHITECTURE.md": c.text}, c.want)
		})
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, text, want string }{
		"right links":    {"docs/a.md", "[a](b.md#two-words) [b](../query/a.go) [c](#up) [d](https://x.test/y)\n# Up\n", ""},
		"no file":        {"docs/a.md", "\n[a](c.md)\n", "docs/a.md:2: links to c.md, which does not exist"},
		"no heading":     {"docs/a.md", "[a](b.md#three)\n", "docs/a.md:1: links to b.md#three, which has no such heading"},
		"code":           {"docs/a.md", "`[a](c.md)`\n```\n[a](c.md)\n```\n", ""},
		"stale path":     {"README.md", "`query/b.go`\n", "README.md:1: query/b.go does not exist"},
		"placeholders":   {"README.md", "`query/NAME/a.go`, `query/*.go`, `a/b`, `query`, `query/a.go`\n", ""},
		"path elsewhere": {"docs/a.md", "`query/b.go`\n", ""},
		"long front":     {"README.md", strings.Repeat("\n", 201), "README.md: has 201 lines, more than 200"},
		"wide guide":     {"docs/guides/a.md", strings.Repeat("ü", 121) + "\n", "docs/guides/a.md:1: has more than 120 columns"},
		"narrow guide":   {"docs/guides/a.md", strings.Repeat("ü", 120) + "\n", ""},
		"wide page":      {"docs/a.md", strings.Repeat("x", 121) + "\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			layout := "# Layout\n| `query`, `schema`, `docs` | x |\n"
			checkDocuments(t, map[string]string{"ARCHITECTURE.md": layout, "docs/b.md": "## Two words\n", c.path: c.text}, c.want)
		})
	}
}

// checkDocuments expects the faults of a project with two Go files and documents.
func checkDocuments(t *testing.T, documents map[string]string, want string) {
	t.Helper()
	fsys := fstest.MapFS{
		"query/a.go":  {Data: []byte("package x"), Mode: fs.ModePerm},
		"schema/a.go": {Data: []byte("package x"), Mode: fs.ModePerm},
	}
	for name, text := range documents {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	faults, err := arch.Check(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(texts(faults), "\n"); got != want {
		t.Errorf("faults %q, want %q", got, want)
	}
}
