package apidoc_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"vayu/internal/apidoc"
)

// TestGeneratorsCanReadTheDocument checks the rules that the generators of .ci/generators need.
func TestGeneratorsCanReadTheDocument(t *testing.T) {
	t.Parallel()
	text, err := apidoc.Document()
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, kind := range []string{"schemas", "parameters", "securitySchemes"} {
		for name := range document["components"].(map[string]any)[kind].(map[string]any) {
			if other, ok := seen[strings.ToLower(name)]; ok {
				t.Errorf("the names %s and %s differ only in case", name, other)
			}
			seen[strings.ToLower(name)] = name
		}
	}
	checkSchemas(t, "", document)
}

// checkSchemas checks a value and the values in it. Assertions below if, then, else and not are for validators only, and
// examples are not schemas.
func checkSchemas(t *testing.T, path string, value any) {
	t.Helper()
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			checkSchemas(t, path, item)
		}
	case map[string]any:
		for _, problem := range schemaProblems(path, v) {
			t.Errorf("%s: %s", path, problem)
		}
		for name, member := range v {
			switch name {
			case "if", "then", "else", "not", "example", "examples":
			default:
				checkSchemas(t, path+"/"+name, member)
			}
		}
	}
}

func schemaProblems(path string, v map[string]any) (problems []string) {
	if strings.HasSuffix(path, "/properties") {
		return nil // its members are names of properties
	}
	if _, ok := v["multipleOf"]; ok {
		problems = append(problems, "multipleOf rejects decimals that binary numbers cannot represent")
	}
	_, constant := v["const"]
	if _, typed := v["type"]; constant && !typed {
		problems = append(problems, "const without a type")
	}
	if _, fields := v["properties"]; fields && refers(v["allOf"]) {
		problems = append(problems, "generators lose properties beside an allOf with a reference")
	}
	if number, ok := v["type"].(string); ok && number == "number" && v["format"] != "double" {
		problems = append(problems, "a number without the format double")
	}
	return problems
}

// refers reports whether the value of an allOf has a reference.
func refers(allOf any) bool {
	parts, _ := allOf.([]any)
	return slices.ContainsFunc(parts, func(part any) bool {
		_, ok := part.(map[string]any)["$ref"]
		return ok
	})
}
