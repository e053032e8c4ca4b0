package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/cmd/vayu/tool"
	"vayu/internal/sqlstore"
)

// A tolerance is set by name or number, is listed, and each change has one audit row.
func TestTheToleranceOfAnAccount(t *testing.T) {
	t.Parallel()
	data, db := newLedgerStore(t)
	wantOutput(t, data, "every      default\n", "account", "list")
	for _, c := range [][2]string{{"strict", "100"}, {"standard", "70"}, {"lenient", "50"}, {"85", "85"}, {"85", "85"}, {"0", "0"}, {"default", "default"}} {
		wantOutput(t, data, "", "account", "tolerance", "default", c[0])
		wantOutput(t, data, "every      "+c[1]+"\n", "account", "list")
	}
	for _, wrong := range []string{"", "foo", "Strict", "+1", "101", "300", "70.5", "१०"} {
		wantOutput(t, data, "neither strict, standard, lenient or default nor a whole number from 0 to 100", "account", "tolerance", "default", wrong)
	}
	wantOutput(t, data, "there is no account", "account", "tolerance", "nobody", "strict")
	wantOutput(t, data, "accepts 2 arg(s)", "account", "tolerance", "default")
	got, err := sqlstore.All(db.View(t.Context()), func(row sqlstore.Scanner) (detail string, err error) {
		err = row.Scan(&detail)
		return detail, err
	}, "SELECT detail FROM audit WHERE action = 'account.name_tolerance' AND actor = $1 ORDER BY seq", tool.CommandActor)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, value := range []string{"100", "70", "50", "85", "0", "null"} {
		want = append(want, `{"name_tolerance":`+value+`}`)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantOutput(t, data, "", "audit", "verify")
}
