package arch_test

import "testing"

func TestAssertions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ statement, want string }{
		"all values":       {`if err != nil || n != 1 { t.Errorf("n = %d, error %v", n, err) }`, ""},
		"one of two":       {`if err != nil || n != 1 { t.Errorf("error %v", err) }`, "does not print n:"},
		"none of three":    {`if ok && (a || b) || a.B || c() { x.t.Fatal("no") }`, "does not print ok or a or b:"},
		"second operand":   {`if ok && (a || b) || a.B || c() { x.t.Fatal("no", ok) }`, "does not print a:"},
		"one condition":    {`if n != 1 { t.Fatal("no") }`, ""},
		"else":             {`if ok { f() } else if err != nil || n != 1 { t.Fatal(err) }`, "does not print n:"},
		"struct":           {`if got.A != 1 || got.B().C != 2 { t.Errorf("got %+v", got) }`, ""},
		"wanted value":     {`if got != want || n != want { t.Errorf("got %d, want %d", n, want) }`, "does not print got:"},
		"literal":          {`if n != 1 || !slices.Equal(got, []string{a}) { t.Error(n, a) }`, "does not print got:"},
		"function literal": {`if n != 1 || has(got, func() bool { return n == 1 }) { t.Error(n) }`, "does not print got:"},
		"test in a call":   {`if n != 1 || read(t, body).N != 1 { t.Error(n, read(t, text)) }`, "does not print body:"},
		"no variable":      {`if schema.Known("x") || Max != len("x") { t.Error("known") }`, ""},
		"case":             {`switch { case ok: case n < 1, n > 9 || err != nil: t.Errorf("n = %d", n) }`, "does not print err:"},
		"case of a value":  {`switch n { case a, b: t.Errorf("n = %d", n) }`, ""},
		"package":          {`if err != nil || n != 1 { http.Error(w, "no", 400) }`, ""},
		"no failure":       {`if err != nil || n != 1 { t.Log("no") }`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "package x\nimport (\"net/http\"; \"slices\"; \"vayu/schema\")\nfunc f() {\n" + c.statement + "\n}\n"
			checkOne(t, "query/a_test.go", text, c.want)
			checkOne(t, "query/a.go", text, "")
		})
	}
}
