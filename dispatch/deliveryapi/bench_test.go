package deliveryapi_test

import (
	"context"
	"testing"

	"vayu/dispatch/deliveryapi"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// benchStores returns an empty store of each engine.
var benchStores = map[string]func(testing.TB) *sqlstore.DB{"sqlite": sqlstoretest.SQLite, "postgres": sqlstoretest.Postgres}

// insertCrowd stores pending deliveries of one event to several webhooks of an account.
func insertCrowd(tb testing.TB, db *sqlstore.DB, rows, webhooks int) {
	tb.Helper()
	sqlstoretest.Exec(tb, db, "INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ('acc_crowd', 'crowd', 'unlimited', '', 1, 1)")
	sqlstoretest.Exec(tb, db, "INSERT INTO event (id, account_id, mode, type, created_at, envelope) VALUES ('evt_crowd', 'acc_crowd', 'live', 'payment.succeeded', 1, $1)", []byte("{}"))
	sqlstoretest.Exec(tb, db, `INSERT INTO webhook (id, account_id, mode, url, events, active, api_version, secret, secret_last4, created_at, revision)
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $1)
		SELECT 'wh_00000000000000000' || CAST(1000000000 + i AS TEXT), 'acc_crowd', 'live', 'https://receiver.example', '', 1, '', $2, '', 1, 1 FROM n`, webhooks, []byte{1})
	sqlstoretest.Exec(tb, db, `INSERT INTO delivery (id, event_id, webhook_id, account_id, mode, retry_of, due_at, token, created_at, state, attempts, finished_at, retried_as)
		WITH RECURSIVE n (i) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $1)
		SELECT 'dlv_0000000000000000' || CAST(1000000000 + i AS TEXT), 'evt_crowd', 'wh_00000000000000000' || CAST(1000000000 + i % $2 AS TEXT), 'acc_crowd', 'live', CAST(i AS TEXT), $3 + i, '', 1, 'waiting', 1, NULL, '' FROM n`,
		rows, webhooks, start.UnixMicro())
}

// BenchmarkListOfARareState measures the first page of a state that none of a million
// deliveries has.
func BenchmarkListOfARareState(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		db := benchStores[engine](b)
		insertCrowd(b, db, 1_000_000, 1)
		sqlstoretest.Exec(b, db, "ANALYZE")
		for name, webhook := range map[string]string{"account": "", "webhook": "wh_000000000000000001000000000"} {
			b.Run(engine+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if n, next, err := deliveryapi.Page(db.View(context.Background()), schema.DeliveryCancelled, webhook); err != nil || n != 0 || next == "" {
						b.Fatal(n, next, err)
					}
				}
			})
		}
	}
}
