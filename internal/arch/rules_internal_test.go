package arch

// The rules parse the sources in-process. go test caches the result of a test if the files that the test itself
// reads are unchanged. Files that `go list` reads do not count, so a new wrong import would stay hidden.

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// module is the path that begins every import of the project itself.
const module = "vayu/"

// stages turn readings and requests into results. They may import internal and schema, but never
// each other; cmd connects them.
var stages = []string{"ingest", "pipeline", "query", "dispatch"}

// topFolders are the folders allowed beside go.mod. Names that begin with a dot are also allowed.
var topFolders = []string{"cmd", "dispatch", "docs", "ingest", "internal", "pipeline", "query", "schema"}

// madeFolders are created by the build or at run time, and ignored by git.
var madeFolders = []string{"bin", "data", "internal/dashboard/dist", "internal/dashboard/web/made", "node_modules", "schema/sdk/typescript/dist", "schema/sdk/typescript/src/made"}

// madeFile is the part of the SDK for Python that .ci/sdk makes. Git ignores it.
const madeFile = "schema/sdk/python/src/vayu_sdk/contract.py"

// internalMay lists every package of internal with the packages of internal that it may import. A
// package that is missing here fails: adding a package includes adding it here.
var internalMay = map[string][]string{
	"access": {
		"access/account", "access/apikey", "access/audit", "access/idempotency", "access/quota", "access/session", "access/signature",
		"config", "encryption", "failurelog", "httpapi", "pagination", "sqlstore", "tablecache",
	},
	"access/accesstest": {
		"access", "access/account", "access/apikey", "config", "encryption", "httpapi", "httpapi/httpapitest", "httpapi/server", "sqlstore",
		"sqlstore/sqlstoretest",
	},
	"access/account":     {"access/audit", "config", "sqlstore"},
	"access/apikey":      {"access/account", "access/audit", "encryption", "sqlstore"},
	"access/audit":       {"encryption", "httpapi", "pagination", "sqlstore"},
	"access/idempotency": {"access/audit", "encryption", "httpapi", "sqlstore"},
	"access/member": {
		"access/account", "access/apikey", "access/audit", "access/session", "encryption", "httpapi", "httpapi/ratelimit", "mail", "sqlstore",
	},
	"access/quota":     {"config", "failurelog", "httpapi", "sleep", "sqlstore", "tablecache"},
	"access/session":   {"access/account", "access/apikey", "access/audit", "httpapi", "pagination", "sqlstore"},
	"access/signature": {"access/idempotency", "httpapi"},
	"access/signup": {
		"access/account", "access/apikey", "access/audit", "access/member", "config", "encryption", "httpapi", "httpapi/ratelimit", "mail", "sqlstore",
	},
	"agefile":                     {},
	"apidoc":                      {"httpapi", "httpapi/server"},
	"arch":                        {},
	"atomicfile":                  {},
	"backupfile":                  {"atomicfile"},
	"columnstore":                 {"columnstore/embedded", "columnstore/embedded/chdb", "config", "sleep", "tracing"},
	"columnstore/backup":          {"backupfile", "columnstore", "columnstore/migration"},
	"columnstore/columnstoretest": {"columnstore", "columnstore/embedded", "columnstore/embedded/chdb", "columnstore/migration", "config", "testing/realdata"},
	"columnstore/embedded": {
		"columnstore/embedded/access", "columnstore/embedded/chdb", "columnstore/embedded/fence",
		"columnstore/embedded/session", "columnstore/embedded/wire", "config", "filelock",
	},
	"columnstore/embedded/access":      {"columnstore/embedded/chdb"},
	"columnstore/embedded/fence":       {},
	"columnstore/embedded/session":     {"columnstore/embedded/access", "columnstore/embedded/chdb"},
	"columnstore/embedded/wire":        {"columnstore/embedded/chdb"},
	"columnstore/embedded/chdb":        {"config"},
	"columnstore/migration":            {"columnstore"},
	"config":                           {},
	"config/section":                   {"config"},
	"dashboard":                        {"httpapi"},
	"encryption":                       {"atomicfile", "config", "sqlstore"},
	"failpoint":                        {},
	"failurelog":                       {},
	"filelock":                         {},
	"httpapi":                          {"httpapi/compression", "httpapi/mediatype", "httpapi/server", "tracing"},
	"httpapi/compression":              {},
	"httpapi/httpapitest":              {"apidoc", "httpapi"},
	"httpapi/mediatype":                {},
	"httpapi/ratelimit":                {},
	"httpapi/server":                   {"config"},
	"leader":                           {"failurelog", "sleep", "sqlstore"},
	"lifecycle":                        {"panics"},
	"memory":                           {"failurelog", "sleep"},
	"mail":                             {"config", "sqlstore"},
	"pagination":                       {"httpapi"},
	"panics":                           {},
	"share":                            {"failurelog", "leader", "sleep", "sqlstore"},
	"sleep":                            {},
	"sqlstore":                         {"config", "filelock", "panics", "sleep", "sqlstore/connection", "sqlstore/migration", "sqlstore/server", "tracing"},
	"sqlstore/connection":              {},
	"sqlstore/dump":                    {"backupfile", "sqlstore", "sqlstore/migration"},
	"sqlstore/migration":               {},
	"sqlstore/server":                  {"config", "sleep", "sqlstore/connection"},
	"sqlstore/sqlstoretest":            {"config", "sqlstore", "testing/fixture"},
	"sse":                              {"failurelog", "httpapi", "httpapi/server", "sleep"},
	"tablecache":                       {"failurelog", "sleep"},
	"testing/chaos":                    {"access", "access/account", "access/apikey", "columnstore/embedded", "config", "encryption", "sleep", "sqlstore"},
	"testing/fixture":                  {},
	"testing/providers":                {"sleep"},
	"testing/providers/fakeaggregator": {"testing/providers"},
	"testing/providers/fakebank":       {"testing/providers"},
	"testing/realdata":                 {},
	"topic":                            {"config", "failurelog", "sleep", "topic/broker"},
	"topic/broker":                     {"config", "sleep"},
	"tracing":                          {"config", "failurelog", "sleep"},
	"tracing/tracingtest":              {"testing/fixture"},
	"workqueue":                        {"failurelog", "panics", "sleep", "sqlstore"},
}

// Fault is one violation of a rule.
type Fault struct {
	// Path is the file or folder, relative to the root; Line is 0 for the whole of it.
	Path string
	Line int
	// Text describes the violation and the remedy.
	Text string
}

// String is "path:line: text".
func (f Fault) String() string {
	if f.Line == 0 {
		return f.Path + ": " + f.Text
	}
	return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Text)
}

// file is one parsed Go file.
type file struct {
	path   string
	test   bool
	tree   *ast.File
	fset   *token.FileSet
	faults *[]Fault
}

func (f *file) faultf(at token.Pos, format string, args ...any) {
	*f.faults = append(*f.faults, Fault{f.path, f.fset.Position(at).Line, fmt.Sprintf(format, args...)})
}

// Check applies every rule to the project with the root fsys, and returns the violations in the
// order of the paths. An error means that reading failed. A file that does not parse is a Fault.
func Check(fsys fs.FS) ([]Fault, error) {
	faults, bodies := checkTop(fsys), map[string]string{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(name):
			return fs.SkipDir
		case !d.Type().IsRegular(): // node_modules can be a link
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		checkLength(name, text, &faults)
		checkTextWords(name, string(text), &faults)
		switch path.Ext(name) {
		case ".go":
			checkGo(name, text, bodies, &faults)
		case ".md":
			checkDocument(fsys, name, string(text), &faults)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the project: %w", err)
	}
	faults = append(faults, checkGuide(fsys)...)
	faults = append(faults, checkLists(fsys)...)
	return faults, nil
}

// skipped folders contain no source of the project, or real data.
func skipped(name string) bool {
	base := path.Base(name)
	return name != "." && strings.HasPrefix(base, ".") || base == "testdata" || slices.Contains(madeFolders, name)
}

// pure reports whether a file does no I/O and reads no clock. The SDK for Go is a module of its own below schema.
func (f *file) pure() bool {
	return top(f.path) == "schema" && !f.test && !strings.HasPrefix(f.path, "schema/sdk/")
}

func checkGo(name string, text []byte, bodies map[string]string, faults *[]Fault) {
	f := &file{path: name, test: strings.HasSuffix(name, "_test.go"), fset: token.NewFileSet(), faults: faults}
	tree, err := parser.ParseFile(f.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		*faults = append(*faults, Fault{Path: name, Text: err.Error()})
		return
	}
	f.tree = tree
	f.checkImports()
	f.checkPackage()
	f.checkCalls()
	f.checkAssertions()
	f.checkBodies(bodies)
	f.checkDocs()
	f.checkWords()
	f.checkMarks()
}
