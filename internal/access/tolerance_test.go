package access_test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/account"
	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// The tolerance of an account is the last value set, or none. An unchanged value adds no entry to
// the audit log.
func TestTheNameToleranceOfAnAccount(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		set := func(id string, score sql.NullInt64) (holder account.Record, entry audit.Entry, err error) {
			err = h.DB.Update(t.Context(), func(tx *sqlstore.Tx) (err error) {
				holder, entry, err = account.SetNameTolerance(tx, id, score)
				return err
			})
			return holder, entry, err
		}
		score := func(n int64) sql.NullInt64 { return sql.NullInt64{Int64: n, Valid: true} }
		for _, c := range []struct {
			to     sql.NullInt64
			detail any // in the entry; nil for no entry
		}{{to: sql.NullInt64{}}, {score(100), int64(100)}, {to: score(100)}, {score(0), int64(0)}, {score(71), int64(71)}} {
			holder, entry, err := set(h.account, c.to)
			if err != nil || holder.NameTolerance != c.to {
				t.Fatalf("%v: got %v, %v", c.to, holder.NameTolerance, err)
			}
			var want audit.Entry
			if c.detail != nil {
				want = audit.Entry{Account: h.account, Action: "account.name_tolerance", Subject: h.account, Detail: map[string]any{"name_tolerance": c.detail}}
			}
			if diff := cmp.Diff(want, entry); diff != "" {
				t.Error(diff)
			}
		}
		if holder, entry, err := set(h.account, sql.NullInt64{}); err != nil || holder.NameTolerance.Valid || entry.Action == "" {
			t.Errorf("taking it away: got %v, %v, %v", holder, entry, err)
		}
		for id, c := range map[string]struct {
			to   sql.NullInt64
			code schema.Code
		}{h.account: {score(101), schema.InvalidRequest}, "acc_none": {score(1), schema.NotFound}} {
			_, _, err := set(id, c.to)
			if why, ok := errors.AsType[*schema.Problem](err); !ok {
				t.Errorf("%s: got %v, want a problem", id, err)
			} else if why.Code != c.code {
				t.Errorf("%s: code = %s, want %s", id, why.Code, c.code)
			}
		}
		if _, _, err := set(h.account, score(-1)); err == nil {
			t.Error("a negative one was taken")
		}
	})
}
