package reconcile_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/pipeline/recharge/reconcile"
)

// The documentation lists the kinds as the command prints them.
func TestPageListsTheKinds(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/reconciliation.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## 3. ")
	table, _, _ = strings.Cut(table, "\n## 4. ")
	var got, want [][]string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (.*) \\| (.*) \\|$").FindAllStringSubmatch(table, -1) {
		got = append(got, m[1:])
	}
	for _, about := range reconcile.Kinds {
		action := about.Action
		if about.Automatic {
			action += " (automatic)"
		}
		want = append(want, []string{string(about.Kind), about.What, action})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the page (-want +got):\n%s", diff)
	}
}
