package wiring

import (
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/cmd/vayu/settings"
	"vayu/internal/apidoc"
)

// keyless stands for the scope of an operation that needs no key.
const keyless = "no key"

// described returns the scope of each operation of the contract, by method and path.
func described(t *testing.T) map[string]string {
	t.Helper()
	text, err := apidoc.Document()
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	scopes := map[string]string{}
	for path, members := range document.Paths {
		for name, member := range members {
			if name == "parameters" {
				continue
			}
			operation := struct {
				Scope *string `json:"x-scope"`
			}{}
			if err := json.Unmarshal(member, &operation); err != nil {
				t.Fatalf("%s %s: %v", name, path, err)
			}
			method := strings.ToUpper(name)
			scopes[method+" "+path] = keyless
			if operation.Scope != nil {
				scopes[method+" "+path] = *operation.Scope
			}
		}
	}
	return scopes
}

// Every route has a description in the contract, with its scope, and every description has a route.
func TestRoutesAreTheContract(t *testing.T) {
	t.Parallel()
	cfg := settings.Defaults()
	cfg.Data, cfg.Public = t.TempDir(), "live"
	s, err := New(cfg, slog.New(slog.DiscardHandler), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	scopes := map[string]string{}
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/dashboard", "/dashboard/"} {
		scopes["GET "+path] = keyless
	}
	for _, r := range s.routes() {
		scopes[r.Method+" "+r.Path] = r.Scope
		if r.NoAuth {
			scopes[r.Method+" "+r.Path] = keyless
		}
	}
	if diff := cmp.Diff(described(t), scopes); diff != "" {
		t.Errorf("the routes differ from the contract (-contract +routes):\n%s", diff)
	}
}
