package arch

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

// failures are the methods of a test that report a failure.
var failures = []string{"Error", "Errorf", "Fatal", "Fatalf"}

// checkAssertions checks that an assertion prints every value that it compares: of each operand of || that leads to
// a failure, the message has a variable. Otherwise the message does not show which condition failed, and why.
func (f *file) checkAssertions() {
	if !f.test {
		return
	}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			f.checkAssertion(alternatives(n.Cond), n.Body.List)
		case *ast.SwitchStmt:
			if n.Tag != nil {
				return true
			}
			for _, s := range n.Body.List {
				if c, ok := s.(*ast.CaseClause); ok {
					f.checkAssertion(alternatives(c.List...), c.Body)
				}
			}
		}
		return true
	})
}

// alternatives are the operands that commas and || join.
func alternatives(conditions ...ast.Expr) []ast.Expr {
	var out []ast.Expr
	for _, c := range conditions {
		if or, ok := ast.Unparen(c).(*ast.BinaryExpr); ok && or.Op == token.LOR {
			out = append(out, alternatives(or.X, or.Y)...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// checkAssertion checks a body that runs if one of the operands is true, and that begins with a failure.
func (f *file) checkAssertion(operands []ast.Expr, body []ast.Stmt) {
	if len(operands) < 2 || len(body) == 0 {
		return
	}
	test, message := f.failure(body[0])
	if test == "" {
		return
	}
	printed := f.variables(test, message...)
	for _, operand := range operands {
		compared := f.variables(test, operand)
		isPrinted := func(v string) bool { return slices.Contains(printed, v) }
		if len(compared) > 0 && !slices.ContainsFunc(compared, isPrinted) {
			f.faultf(operand.Pos(), "the message does not print %s: an assertion prints every value that it compares",
				strings.Join(compared, " or "))
		}
	}
}

// failure returns the variable of the test and the arguments of a statement that calls one of failures. The variable
// is empty if the statement does not.
func (f *file) failure(s ast.Stmt) (string, []ast.Expr) {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return "", nil
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok {
		return "", nil
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains(failures, method.Sel.Name) {
		return "", nil
	}
	receiver := f.variables("", method.X)
	if len(receiver) != 1 {
		return "", nil // a function of a package, such as http.Error
	}
	return receiver[0], call.Args
}

// variables returns the names of the variables in expressions, except that of the test. A field counts as the
// variable that has it. Literals, constants and want are what a value is compared with, and are none.
func (f *file) variables(test string, expressions ...ast.Expr) []string {
	var names []string
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit, *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			ast.Inspect(n.X, visit)
			return false
		case *ast.CallExpr:
			if _, isFunction := n.Fun.(*ast.Ident); !isFunction {
				return true
			}
			for _, argument := range n.Args {
				ast.Inspect(argument, visit)
			}
			return false
		case *ast.Ident:
			other := n.Name == test || n.Name == "want" || n.IsExported() || types.Universe.Lookup(n.Name) != nil
			if !other && !f.imports(n.Name) && !slices.Contains(names, n.Name) {
				names = append(names, n.Name)
			}
		}
		return true
	}
	for _, e := range expressions {
		ast.Inspect(e, visit)
	}
	return names
}

// imports reports whether a name is that of an imported package.
func (f *file) imports(name string) bool {
	return slices.ContainsFunc(f.tree.Imports, func(spec *ast.ImportSpec) bool {
		if spec.Name != nil {
			return spec.Name.Name == name
		}
		return path.Base(strings.Trim(spec.Path.Value, `"`)) == name
	})
}
