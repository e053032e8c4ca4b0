package audit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// An audit log whose end was cut off, head included, is a valid chain. Only a copy of its head
// shows the missing rows.
func TestCopiedHeadsShowACutAuditLog(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		id := insertAccount(t, db, "one")
		path := filepath.Join(t.TempDir(), "heads.ndjson")
		log := audit.NewHeadLog(path)
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
			for head, err := range audit.Heads(file) {
				if err != nil {
					t.Fatal(err)
				}
				reason, err := head.Check(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				if reason != "" {
					faults = append(faults, reason)
				}
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
		if faults := check(); len(faults) != 2 || !strings.Contains(faults[0], "the row is missing") {
			t.Errorf("after the cut: %q", faults)
		}
		for n := range 3 {
			if err := appendRow(db, id, schema.Live, 10+n); err != nil {
				t.Fatal(err)
			}
		}
		copied(1) // the chain has grown past the cut
		if faults := check(); len(faults) != 2 || !strings.Contains(faults[0], "its hash differs from the one") {
			t.Errorf("after other rows: %q", faults)
		}
	})
}

func TestHeadsNameTheDamagedLine(t *testing.T) {
	t.Parallel()
	const good = `{"account":"acc_1","world":"live","seq":3,"hash":"` + "00000000000000000000000000000000000000000000000000000000000000ff" + `","at":"2026-11-23T00:00:00Z"}`
	for _, bad := range []string{"no JSON", `{"account":"acc_0`, `{"account":"acc_1","world":"live","seq":0,"hash":""}`, strings.Replace(good, "ff", "xx", 1)} {
		var heads, faults int
		for head, err := range audit.Heads(strings.NewReader(good + "\n\n" + bad + "\n" + good + "\n")) {
			switch {
			case err == nil && head.Seq == 3:
				heads++
			case strings.Contains(err.Error(), "line 3"):
				faults++
			}
		}
		if heads != 2 || faults != 1 {
			t.Errorf("%s: %d heads and %d faults, want 2 and 1", bad, heads, faults)
		}
	}
}

// An unfinished line after a crash stays a separate line.
func TestAnUnfinishedLineDamagesNoOther(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		id := insertAccount(t, db, "one")
		path := filepath.Join(t.TempDir(), "heads.ndjson")
		if err := os.WriteFile(path, []byte(`{"account":"acc_0`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := appendRow(db, id, schema.Live, 1); err != nil {
			t.Fatal(err)
		}
		if n, _, err := audit.NewHeadLog(path).Copy(t.Context(), db, time.Now()); err != nil || n != 1 {
			t.Fatalf("copied %d, %v", n, err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Split(string(text), "\n"); len(lines) != 3 || !strings.Contains(lines[1], id) {
			t.Errorf("the lines are %q, want two, with %s in the second", lines, id)
		}
	})
}
