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

// insertWaiting stores pending deliveries of several subscriptions.
func insertWaiting(tb testing.TB, db *sqlstore.DB, rows, webhooks int) {
	tb.Helper()
	addAccount(tb, db, "acc_crowd")
	addEvent(tb, db, "acc_crowd", schema.Live, "evt_crowd")
	sqlstoretest.Exec(tb, db, `INSERT INTO webhook (id, account_id, mode, url, events, active, api_version, secret, secret_last4, created_at, revision)
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $1)
		SELECT 'wh_00000000000000000' || CAST(1000000000 + i AS TEXT), 'acc_crowd', 'live', 'https://receiver.example', '', 1, '', $2, '', 1, 1 FROM n`, webhooks, []byte{1})
	const step = 50_000
	for from := 0; from < rows; from += step {
		sqlstoretest.Exec(tb, db, `INSERT INTO delivery (id, event_id, webhook_id, account_id, mode, retry_of, due_at, token, created_at, state, attempts, finished_at, retried_as)
			WITH RECURSIVE n (i) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $2)
			SELECT 'dlv_0000000000000000' || CAST(1000000000 + i AS TEXT), 'evt_crowd', 'wh_00000000000000000' || CAST(1000000000 + i % $3 AS TEXT), 'acc_crowd', 'live', CAST(i AS TEXT), $4 + i, '', 1, 'waiting', 1, NULL, '' FROM n`,
			from, min(from+step, rows), webhooks, start.UnixMicro())
	}
}

// BenchmarkListOfARareState measures the first page of a state that none of a million
// deliveries has.
func BenchmarkListOfARareState(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		db := benchStores[engine](b)
		insertWaiting(b, db, 1_000_000, 1)
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
