package audit_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"vayu/internal/access/accesstest"
	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// keyedStore prepares a store as a process with the key does at its start.
func keyedStore(t *testing.T, db *sqlstore.DB, now time.Time) {
	t.Helper()
	accesstest.ClaimedCipher(t, db)
	if err := audit.KeyHeads(t.Context(), db, now); err != nil {
		t.Fatal(err)
	}
}

func appendRows(t *testing.T, db *sqlstore.DB, id string, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		if err := appendRow(db, id, schema.Live, n); err != nil {
			t.Fatal(err)
		}
	}
}

// reports returns the reports of a verification, and its error.
func reports(db *sqlstore.DB) (all []audit.Report, err error) {
	err = audit.Verify(context.Background(), db, "", func(r audit.Report) { all = append(all, r) })
	return all, err
}

const setBack = "UPDATE audit_head SET seq = 21, hash = (SELECT hash FROM audit WHERE seq = 21)"

// An attacker with write access but without the key cuts off 21 of 42 rows and resets the head. The
// verification finds that at once, and also after further rows, without a copy of the head.
func TestACutAuditLogIsFoundByTheMACOfItsHead(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		do   []string
		why  string
	}{
		{"the end and the head", nil, "MAC of the head is of row 42"},
		{"the MAC too", []string{"UPDATE audit_head SET mac = NULL"}, "has no MAC"},
		{"a MAC of nothing", []string{"UPDATE audit_head SET mac = hash"}, "MAC"},
	}
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		keyedStore(t, db, time.Now().Add(-8*24*time.Hour)) // after the grace period of the upgrade
		id := insertAccount(t, db, "one")
		appendRows(t, db, id, 0, 42)
		switch got, err := reports(db); {
		case err != nil:
			t.Fatalf("before: %v", err)
		case len(got) != 1:
			t.Fatalf("before: len(got) = %v, want 1", len(got))
		case got[0].Reason != "":
			t.Fatalf("before: got[0].Reason = %q, want none", got[0].Reason)
		case got[0].Rows != 42:
			t.Fatalf("before: got[0].Rows = %v, want 42", got[0].Rows)
		case got[0].Unkeyed != 0:
			t.Fatalf("before: got[0].Unkeyed = %v, want 0", got[0].Unkeyed)
		}
		run(t, db, "CREATE TABLE audit_copy AS SELECT * FROM audit", "CREATE TABLE head_copy AS SELECT * FROM audit_head")
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				defer run(t, db, "DELETE FROM audit", "DELETE FROM audit_head", "INSERT INTO audit SELECT * FROM audit_copy", "INSERT INTO audit_head SELECT * FROM head_copy")
				run(t, db, append([]string{"DELETE FROM audit WHERE seq > 21", setBack}, c.do...)...)
				for _, more := range []int{0, 3, 30} { // a service appends rows, beyond the original last one
					appendRows(t, db, id, 100, 100+more)
					switch got, err := reports(db); {
					case err != nil:
						t.Error(err)
					case len(got) != 1:
						t.Errorf("len(got) = %v, want 1", len(got))
					case got[0].Reason == "":
						t.Error("got[0].Reason is empty")
					case more == 0 && !strings.Contains(got[0].Reason, c.why):
						t.Errorf("the reason is %q, want %q", got[0].Reason, c.why)
					}
					if err := audit.KeyHeads(t.Context(), db, time.Now()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		run(t, db, "DELETE FROM setting WHERE name = 'audit_heads_keyed'")
		if got, err := reports(db); err == nil || !strings.Contains(err.Error(), "was removed") {
			t.Errorf("without the note: %+v, %v", got, err)
		}
		if err := audit.KeyHeads(t.Context(), db, time.Now()); err == nil {
			t.Error("a note that was removed is made again")
		}
	})
}

// A log of an earlier version is authenticated once. Rows that such a version, or a process without
// the key, appends later are counted, and covered by the next row with the key.
func TestAuditLogsOfEarlierVersionsGetAMAC(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		one, other := insertAccount(t, db, "one"), insertAccount(t, db, "other")
		appendRows(t, db, one, 0, 3) // without the key
		appendRows(t, db, other, 0, 2)
		keyedStore(t, db, time.Now())
		check := func(when string, unkeyed int64) {
			t.Helper()
			got, err := reports(db)
			if err != nil || len(got) != 2 {
				t.Fatalf("%s: %+v, %v", when, got, err)
			}
			sum := int64(0)
			for _, r := range got {
				if sum += r.Unkeyed; r.Reason != "" {
					t.Errorf("%s: %+v", when, r)
				}
			}
			if sum != unkeyed {
				t.Errorf("%s: %d rows without a MAC, want %d", when, sum, unkeyed)
			}
		}
		check("after the upgrade", 0)
		run(t, db, "CREATE TABLE mac_copy AS SELECT account_id, mac FROM audit_head")
		appendRows(t, db, one, 3, 5)
		const earlier = "UPDATE audit_head SET mac = (SELECT c.mac FROM mac_copy c WHERE c.account_id = audit_head.account_id)"
		run(t, db, earlier) // as a program leaves it that lacks the column
		check("an earlier version has written two rows", 2)
		appendRows(t, db, one, 5, 6)
		check("this version has written another", 0)
		run(t, db, "UPDATE audit_head SET mac = NULL")
		check("an earlier version has made the chains", 8)
		if err := audit.KeyHeads(t.Context(), db, time.Now()); err != nil {
			t.Fatal(err)
		}
		check("once more", 0)
		run(t, db, "UPDATE setting SET value = '9' || value WHERE name = 'audit_heads_keyed'")
		if _, err := reports(db); err == nil || !strings.Contains(err.Error(), "was changed") {
			t.Errorf("a note that was changed: %v", err)
		}
	})
}
