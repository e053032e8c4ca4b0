package account_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vayu/internal/account"
	"vayu/internal/state"
	"vayu/internal/state/statetest"
	"vayu/schema"
)

// An audit log whose end was cut off, head included, is a whole chain. Only a copy of
// its head shows what is missing.
func TestCopiedHeadsShowACutAuditLog(t *testing.T) {
	t.Parallel()
	statetest.Each(t, func(t *testing.T, db *state.DB) {
		id := newAccount(t, db, "one")
		path := filepath.Join(t.TempDir(), "heads.ndjson")
		log := account.NewHeadLog(path)
		copied := func(want int) {
			t.Helper()
			n, sum, err := log.Copy(t.Context(), db, time.Now())
			if err != nil || n != want || want > 0 && len(sum) != 64 {
				t.Fatalf("copied %d heads (%q), %v, want %d", n, sum, err, want)
			}
		}
		check := func() (faults []string) {
			t.Helper()
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			heads, err := account.ReadHeads(file)
			if err != nil {
				t.Fatal(err)
			}
			err = account.CheckHeads(t.Context(), db, heads, func(r account.AuditReport) {
				if r.Account != id || r.World != schema.Live {
					t.Errorf("a fault of %s, %s", r.Account, r.World)
				}
				faults = append(faults, r.Reason)
			})
			if err != nil {
				t.Fatal(err)
			}
			return faults
		}
		for n := range 3 {
			if err := appendRow(db, id, schema.Live, n); err != nil {
				t.Fatal(err)
			}
		}
		copied(1)
		copied(0)
		if err := appendRow(db, id, schema.Live, 3); err != nil {
			t.Fatal(err)
		}
		copied(1)
		if faults := check(); len(faults) > 0 {
			t.Errorf("a whole log has the faults %q", faults)
		}

		const cut = "UPDATE audit_head SET seq = 2, hash = (SELECT hash FROM audit WHERE seq = 2)"
		run(t, db, "DELETE FROM audit WHERE seq > 2", cut)
		if got := verify(t, db, id); len(got) != 1 || got[0].Reason != "" {
			t.Fatalf("the chain alone shows the cut: %+v", got)
		}
		if faults := check(); len(faults) != 1 || !strings.Contains(faults[0], "the row is missing") {
			t.Errorf("after the cut: %q", faults)
		}
		for n := range 2 {
			if err := appendRow(db, id, schema.Live, 10+n); err != nil {
				t.Fatal(err)
			}
		}
		if faults := check(); len(faults) != 1 || !strings.Contains(faults[0], "its hash is not the one") {
			t.Errorf("after other rows: %q", faults)
		}
	})
}

func TestReadHeadsNamesTheLine(t *testing.T) {
	t.Parallel()
	const good = `{"account":"acc_1","world":"live","seq":3,"hash":"` + "00000000000000000000000000000000000000000000000000000000000000ff" + `","at":"2026-11-23T00:00:00Z"}`
	for _, bad := range []string{"no JSON", `{"account":"acc_1","world":"live","seq":0,"hash":""}`, strings.Replace(good, "ff", "xx", 1)} {
		if _, err := account.ReadHeads(strings.NewReader(good + "\n\n" + bad + "\n")); err == nil || !strings.Contains(err.Error(), "line 3") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	heads, err := account.ReadHeads(strings.NewReader(good + "\n" + strings.Replace(good, `"seq":3`, `"seq":2`, 1) + "\n"))
	if err != nil || len(heads) != 1 || heads[0].Seq != 3 {
		t.Errorf("heads %+v, %v", heads, err)
	}
}
