package apidoc

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func files(root, part string) fstest.MapFS {
	return fstest.MapFS{"openapi.yaml": {Data: []byte(root)}, "openapi/part.yaml": {Data: []byte(part)}}
}

func TestBundle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ root, part, want string }{
		"order":        {`{b: 1, a: [x, 2.5, null, true]}`, "{}", `{"b":1,"a":["x",2.5,null,true]}`},
		"dates":        {`{a: 2026-11-01, b: "2026-11-01"}`, "{}", `{"a":"2026-11-01","b":"2026-11-01"}`},
		"markup":       {`{a: "<&>\n"}`, "{}", `{"a":"<&>\n"}`},
		"alias":        {`{a: &x {b: 1}, c: *x}`, "{}", `{"a":{"b":1},"c":{"b":1}}`},
		"merge":        {`{a: &x {b: 1, c: 2}, d: {<<: *x, b: 3, e: 4}}`, "{}", `{"a":{"b":1,"c":2},"d":{"b":3,"c":2,"e":4}}`},
		"from a part":  {`{a: {$ref: "openapi/part.yaml#/x/y"}}`, "{x: {y: {z: 1}}}", `{"a":{"z":1}}`},
		"within":       {`{a: {$ref: "#/b"}, b: 1}`, "{}", `{"a":{"$ref":"#/b"},"b":1}`},
		"to the root":  {`{a: {$ref: "openapi/part.yaml#/x"}, b: 1}`, `{x: {y: {$ref: "../openapi.yaml#/b", d: 2}}}`, `{"a":{"y":{"$ref":"#/b","d":2}},"b":1}`},
		"part to part": {`{a: {$ref: "openapi/part.yaml#/x"}}`, `{x: {$ref: "#/y"}, y: [1]}`, `{"a":[1]}`},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := bundle(files(c.root, c.part))
			if err != nil {
				t.Error(err)
				return
			}
			if diff := cmp.Diff(c.want, string(v)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBundleRefuses(t *testing.T) {
	t.Parallel()
	for name, root := range map[string]string{
		"nothing":             "",
		"no YAML":             "{a: [",
		"a place of no one":   `{a: {$ref: "openapi/part.yaml#/y"}}`,
		"a file of no one":    `{a: {$ref: "openapi/other.yaml#/x"}}`,
		"no place":            `{a: {$ref: "openapi/part.yaml"}}`,
		"a file outside":      `{a: {$ref: "../../etc/passwd#/x"}}`,
		"merge of itself":     `{a: &x {<<: *x}}`,
		"parts within itself": `{a: {$ref: "openapi/part.yaml#/x"}}`,
	} {
		if v, err := bundle(files(root, `{x: {z: {$ref: "#/x"}}}`)); err == nil {
			t.Errorf("%s: got %s", name, v)
		}
	}
}

func FuzzBundle(f *testing.F) {
	f.Add(`{a: &x {b: 1}, <<: *x}`, `{x: 1}`)
	f.Add(`{a: {$ref: "openapi/part.yaml#/x"}}`, `{x: {z: {$ref: "#/x"}}}`)
	f.Add("- 1\n- .inf\n- 0x1F\n- !!binary aGk=\n", "{}")
	f.Fuzz(func(t *testing.T, root, part string) {
		v, err := bundle(files(root, part))
		if err == nil && !json.Valid(v) {
			t.Errorf("not JSON: %q", v)
		}
	})
}
