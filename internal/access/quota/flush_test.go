package quota

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// If the reply to COMMIT is lost, the batch is written again, although the store has it.
func TestRepeatedBatchIsStoredOnce(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		now := time.Now()
		l := New(Config{DB: db, Plans: DefaultPlans(), Log: slog.New(slog.DiscardHandler), Now: time.Now})
		const id, key = "acc_1", "key_1"
		sqlstoretest.Exec(t, db, "INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ($1, 'one', 'free', '', 0, 1)", id)
		sqlstoretest.Exec(t, db, `INSERT INTO api_key (id, account_id, mode, name, hash, prefix, last_four, scopes, allow_list, require_signature, created_at, revision)
			VALUES ($1, $2, 'live', '', $3, '', '', '', '', 0, 0, 1)`, key, id, []byte("hash"))
		a := l.Account(id)
		a.SetPlan(FreePlan)
		call := func() {
			c := a.Begin(schema.Live, "GET", "/v1/aqi", key, now)
			c.Admit(false)
			c.End(false, 1)
		}
		call()
		b := l.collect()
		if err := db.Update(t.Context(), func(tx *sqlstore.Tx) error { return b.write(tx, l) }); err != nil {
			t.Fatal(err)
		}
		l.failed = b // as if the reply was lost
		call()
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		day := now.UTC().Format(time.DateOnly)
		got, err := l.Usage(t.Context(), id, Selection{World: schema.Live, From: day, To: day, ByKey: true})
		if err != nil {
			t.Fatal(err)
		}
		want := []schema.UsageDay{{Date: day, Operation: "GET /v1/aqi", KeyID: key, Calls: 2, Counted: 2}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		var stored int64
		if err := db.View(t.Context()).QueryRow("SELECT used FROM quota_period").Scan(&stored); err != nil {
			t.Fatal(err)
		}
		if used := a.Quota(now).Used; stored != 2 || used != 2 {
			t.Errorf("%d calls are stored and %d known, want 2", stored, used)
		}
	})
}
