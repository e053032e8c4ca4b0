package arch

import (
	"go/ast"
	"go/token"
	"strings"
)

// checkDocs requires a comment on every exported name, outside tests and cmd, that begins with the
// name. A group of constants or variables may share one.
func (f *file) checkDocs() {
	if f.test || top(f.path) == "cmd" {
		return
	}
	for _, decl := range f.tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && exportedReceiver(d) {
				f.wantDoc(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				f.checkSpec(d, spec)
			}
		}
	}
}

func (f *file) checkSpec(d *ast.GenDecl, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			doc := s.Doc
			if doc == nil {
				doc = d.Doc
			}
			f.wantDoc(s.Name, doc)
		}
	case *ast.ValueSpec:
		grouped := d.Lparen.IsValid() && (d.Doc != nil || s.Doc != nil || s.Comment != nil)
		for _, name := range s.Names {
			if name.IsExported() && !grouped {
				f.wantDoc(name, firstOf(s.Doc, d.Doc))
			}
		}
	}
}

func (f *file) wantDoc(name *ast.Ident, doc *ast.CommentGroup) {
	text := strings.TrimSpace(doc.Text())
	for _, article := range []string{"A ", "An ", "The "} {
		text = strings.TrimPrefix(text, article)
	}
	if rest, ok := strings.CutPrefix(text, name.Name); !ok || rest != "" && token.IsIdentifier(rest[:1]) {
		f.faultf(name.Pos(), "%s is exported: give it a comment that begins with its name", name.Name)
	}
}

func firstOf(a, b *ast.CommentGroup) *ast.CommentGroup {
	if a != nil {
		return a
	}
	return b
}

// exportedReceiver reports whether a function has no receiver, or one of an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}
