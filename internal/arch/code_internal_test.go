package arch

import (
	"go/ast"
	"go/printer"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// emptyNames do not describe their content.
var emptyNames = []string{
	"base", "common", "helper", "helpers", "manager", "misc",
	"model", "models", "type", "types", "util", "utils",
}

// clockCalls are the functions of package time that schema may not use.
var clockCalls = []string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Sleep"}

// promise matches a comment that postpones work.
var promise = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

func (f *file) checkPackage() {
	if name := f.tree.Name.Name; slices.Contains(emptyNames, strings.TrimSuffix(name, "_test")) {
		f.faultf(f.tree.Name.Pos(), "package name %s does not describe its content", name)
	}
	if parent := path.Dir(f.path); top(parent) == "internal" {
		if _, ok := internalMay[strings.TrimPrefix(parent, "internal/")]; !ok {
			f.faultf(f.tree.Name.Pos(), "give %s a row in the table internalMay in internal/arch", parent)
		}
	}
	if f.path == path.Base(f.path) {
		f.faultf(f.tree.Name.Pos(), "the folder of go.mod has no Go files")
	}
	for _, decl := range f.tree.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			f.faultf(fn.Pos(), "init runs in every program that imports the package; call a function where the value is needed")
		}
	}
}

// checkCalls reports clockCalls in schema, and time.Sleep in tests that do not import testing/synctest.
func (f *file) checkCalls() {
	clock := f.importedAs("time")
	if clock == "" {
		return
	}
	pure := f.pure()
	sleepless := f.test && f.importedAs("testing/synctest") == ""
	ast.Inspect(f.tree, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); !ok || x.Name != clock {
			return true
		}
		if pure && slices.Contains(clockCalls, sel.Sel.Name) {
			f.faultf(sel.Pos(), "time.%s: schema reads no clock; take now as an argument", sel.Sel.Name)
		}
		if sleepless && sel.Sel.Name == "Sleep" {
			f.faultf(sel.Pos(), "time.Sleep in a test is a guess; wait for the event, or use testing/synctest")
		}
		return true
	})
}

// fewStatements is the number of statements below which functions of several packages may have the same body.
const fewStatements = 3

// checkBodies reports a function whose body is also that of a function in another folder. The map `seen` has the path
// of a file for each body. Methods may be the same, because each belongs to its type.
func (f *file) checkBodies(seen map[string]string) {
	for _, decl := range f.tree.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Body == nil || len(fn.Body.List) < fewStatements {
			continue
		}
		var body strings.Builder
		_ = printer.Fprint(&body, token.NewFileSet(), fn.Body) // prints no comments, and never fails
		first, found := seen[body.String()]
		if !found {
			seen[body.String()] = f.path
		} else if path.Dir(first) != path.Dir(f.path) {
			f.faultf(fn.Pos(), "%s has the same body as a function in %s; keep one of them", fn.Name.Name, first)
		}
	}
}

// importedAs is the name of an import in the file; empty if the file does not import it.
func (f *file) importedAs(imported string) string {
	for _, spec := range f.tree.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != imported {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(imported)
	}
	return ""
}

func (f *file) checkMarks() {
	for _, group := range f.tree.Comments {
		for _, c := range group.List {
			if m := promise.FindString(c.Text); m != "" {
				f.faultf(c.Pos(), "%s: do it, or write an issue", m)
			}
		}
	}
}
