package embedded_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnstore/columnstoretest"
)

// TestOfficialNodeClient runs testdata/client.mjs with the @clickhouse/client of node_modules.
func TestOfficialNodeClient(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join("..", "..", "..", "node_modules", "@clickhouse", "client"))
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("node and @clickhouse/client (npm ci) are needed: %v", err)
	}
	address, password := columnstoretest.Access(t)
	cmd := exec.CommandContext(t.Context(), node, filepath.Join("testdata", "client.mjs"), "http://"+address, password, columnstoretest.Database(t, db))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, stderr.String())
	}
	want := `ping true
select [{"a":1,"b":"Pune"},{"a":2,"b":"it's"}]
count [{"n":1000}]
setting [{"n":2}]
json [{"one":1}]
streamed 200000
packed [{"a":3}]
error ["60","UNKNOWN_TABLE"]
error ["62","SYNTAX_ERROR"]
stranger ["516","AUTHENTICATION_FAILED"]
aborted "The user aborted a request."
`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(out), "\n")); diff != "" {
		t.Error(diff)
	}
}
