package httpapitest

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"vayu/internal/apidoc"
	"vayu/schema"
)

// whole returns a compiler with the whole document.
func whole(t *testing.T) *compiler {
	t.Helper()
	text, err := apidoc.Document()
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCompiler(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTheContractIsOpenAPI validates it against the schema of the OpenAPI Initiative for 3.1
// (spec.openapis.org/oas/3.1/schema/2022-10-07).
func TestTheContractIsOpenAPI(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/openapi-3.1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	official, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("https://spec.openapis.org/oas/3.1/schema/2022-10-07", official); err != nil {
		t.Fatal(err)
	}
	s, err := compiler.Compile("https://spec.openapis.org/oas/3.1/schema/2022-10-07")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(whole(t).root); err != nil {
		t.Error(err)
	}
}

// lookup returns the value at a JSON pointer; nil for none.
func lookup(v any, pointer string) any {
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		object, _ := v.(map[string]any)
		v = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	}
	return v
}

// names returns the sorted member names of an object of the document.
func (c *compiler) names(pointer string) []string {
	object, _ := lookup(c.root, pointer).(map[string]any)
	return slices.Sorted(maps.Keys(object))
}

// text returns a text of the document.
func (c *compiler) text(pointer string) string {
	s, _ := lookup(c.root, pointer).(string)
	return s
}

// each calls visit for every object of the document, with its pointer.
func each(v any, at string, visit func(at string, object map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(at, v)
		for name, inner := range v {
			each(inner, at+"/"+escape(name), visit)
		}
	case []any:
		for i, inner := range v {
			each(inner, at+"/"+strconv.Itoa(i), visit)
		}
	}
}

func TestExamplesFitTheirSchemas(t *testing.T) {
	t.Parallel()
	c := whole(t)
	checked := 0
	each(c.root, "", func(at string, object map[string]any) {
		if object["schema"] == nil {
			return
		}
		values := map[string]any{}
		if one, ok := object["example"]; ok {
			values["example"] = one
		}
		named, _ := object["examples"].(map[string]any)
		for name, x := range named {
			values[name] = x.(map[string]any)["value"]
		}
		for name, v := range values {
			checked++
			if err := c.schema(at + "/schema").Validate(v); err != nil {
				t.Errorf("%s, %s: %s", at, name, explain(err))
			}
		}
	})
	if c.err != nil {
		t.Error(c.err)
	}
	if checked < 30 {
		t.Errorf("%d examples were checked, want at least 30", checked)
	}
}

func TestReferencesLeadSomewhere(t *testing.T) {
	t.Parallel()
	text, err := apidoc.Document()
	if err != nil {
		t.Fatal(err)
	}
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(text)) // the compiler inlines references
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	each(root, "", func(at string, object map[string]any) {
		ref, ok := object["$ref"].(string)
		if !ok {
			return
		}
		used[strings.TrimPrefix(ref, "#")] = true
		if lookup(root, strings.TrimPrefix(ref, "#")) == nil {
			t.Errorf("%s: %s leads nowhere", at, ref)
		}
	})
	c := &compiler{root: root}
	for _, kind := range []string{"schemas", "headers", "parameters"} {
		for _, name := range c.names("/components/" + kind) {
			if !used["/components/"+kind+"/"+name] {
				t.Errorf("the component %s/%s is used nowhere", kind, name)
			}
		}
	}
}

func TestRefusalsHaveTheCodesOfTheirStatus(t *testing.T) {
	t.Parallel()
	c := whole(t)
	for _, status := range c.names("/components/responses") {
		code, _ := lookup(c.root, "/components/responses/"+status+"/content/application~1json/schema/properties/error/properties/code").(map[string]any)
		all, _ := code["enum"].([]any)
		if one, ok := code["const"]; ok {
			all = append(all, one)
		}
		if len(all) == 0 && status >= "400" {
			t.Errorf("%s names no code", status)
		}
		for _, name := range all {
			code := schema.Code(name.(string))
			if schema.CodeStatus[code] == 0 {
				t.Errorf("%s is not in schema.CodeStatus", code)
			}
			if got := strconv.Itoa(code.Status()); got != status {
				t.Errorf("%s is listed under %s and has the status %s", code, status, got)
			}
		}
	}
}

func TestProseDescribesStatusesWithoutOperation(t *testing.T) {
	t.Parallel()
	text := whole(t).text("/info/description")
	for _, status := range []int{
		http.StatusBadRequest, http.StatusExpectationFailed, http.StatusRequestHeaderFieldsTooLarge,
		http.StatusNotImplemented, http.StatusHTTPVersionNotSupported,
	} {
		if !strings.Contains(text, "\n| "+strconv.Itoa(status)+" | ") {
			t.Errorf("the prose does not mention %d", status)
		}
	}
}

var sampleTarget = regexp.MustCompile(`"\$BASE(/[^"]*)"`)

// TestSamplesAskForTheirOperation checks the curl lines: path, method, names of
// parameters, and a body that is JSON.
func TestSamplesAskForTheirOperation(t *testing.T) {
	t.Parallel()
	c := whole(t)
	d, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	for template, methods := range d.operations {
		for method, o := range methods {
			all, _ := lookup(c.root, "/paths/"+escape(template)+"/"+strings.ToLower(method)+"/x-codeSamples").([]any)
			for _, s := range all {
				source, _ := s.(map[string]any)["source"].(string)
				target := sampleTarget.FindStringSubmatch(source)
				if target == nil {
					t.Errorf("%s %s: no address in %q", method, template, source)
					continue
				}
				req := httptest.NewRequestWithContext(t.Context(), method, target[1], nil)
				if d.template(req.URL.Path) != template {
					t.Errorf("%s %s: the sample asks for %s", method, template, target[1])
				}
				for name := range req.URL.Query() {
					if !o.hasQuery(name) {
						t.Errorf("%s %s: the sample has a parameter %q", method, template, name)
					}
				}
				_, body, hasBody := strings.Cut(source, "-d '")
				body, _, _ = strings.Cut(body, "'")
				if hasBody && !json.Valid([]byte(body)) {
					t.Errorf("%s %s: the sample's body is no JSON: %s", method, template, body)
				}
				asks := "GET"
				if hasBody {
					asks = "POST"
				}
				if _, stated, ok := strings.Cut(source, "-X "); ok {
					asks, _, _ = strings.Cut(stated, " ")
				}
				if asks != method {
					t.Errorf("%s %s: the sample sends %s", method, template, asks)
				}
			}
		}
	}
}
