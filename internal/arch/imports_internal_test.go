package arch

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	// outbox is the only package of a stage that the tests of other stages may import.
	outbox = "dispatch/outbox"
	// testSupport holds what only tests and the chaos harness use.
	testSupport = "internal/testing"
)

// effects are the packages that schema may not import: it does no I/O, reads no clock and uses no
// random numbers. An entry includes its sub-packages.
var effects = []string{"os", "net", "database", "log", "io/ioutil", "syscall", "math/rand", "plugin"}

// checkImports checks the direction of imports:
//
//	cmd -> {ingest, pipeline, query, dispatch} -> internal -> schema.
//
// The tests of a stage may import dispatch/outbox, because they test their events
// with the real outbox. A test of schema may import internal, to run its SQL on a real
// engine. Package internal/testing may import every stage: only tests and the chaos harness
// use it.
func (f *file) checkImports() {
	from := path.Dir(f.path)
	for _, spec := range f.tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has checked it
		}
		if to, ok := strings.CutPrefix(imported, module); ok {
			if why := forbidden(from, to, f.test); why != "" {
				f.faultf(spec.Pos(), "imports %s: %s", to, why)
			}
		} else if f.pure() && within(imported, effects) {
			f.faultf(spec.Pos(), "imports %s: schema does no I/O and reads no clock", imported)
		}
	}
}

// forbidden returns why one folder may not import another; empty if it may.
func forbidden(from, to string, test bool) string {
	switch source, target := top(from), top(to); {
	case source == "cmd":
		return ""
	case target == "cmd":
		return "nothing imports cmd"
	case test && to == outbox:
		return ""
	case slices.Contains(stages, source):
		if slices.Contains(stages, target) && target != source {
			return "a stage does not import another; declare the interface that you need, and pass it in cmd"
		}
	case source == "internal":
		if slices.Contains(stages, target) && !within(from, []string{testSupport}) {
			return "internal does not import stages"
		}
		if target == "internal" {
			return downwards(strings.TrimPrefix(from, "internal/"), strings.TrimPrefix(to, "internal/"), test)
		}
	case source == "schema":
		if target != "schema" && (!test || target != "internal") {
			return "schema imports only itself"
		}
	}
	return ""
}

// downwards returns why one package of internal may not import another; empty if internalMay lists the
// import. Any test may import a package made for tests: one whose name ends with "test", or one of
// internal/testing.
func downwards(from, to string, test bool) string {
	if from == to || slices.Contains(internalMay[from], to) || test && (strings.HasSuffix(to, "test") || strings.HasPrefix(to, "testing/")) {
		return ""
	}
	return "the table internalMay in internal/arch does not list this arrow"
}

// top is the first folder of a path.
func top(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}

// within reports whether an import path is one of list or below one.
func within(imported string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool {
		return imported == p || strings.HasPrefix(imported, p+"/")
	})
}
