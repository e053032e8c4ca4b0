package delivery_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"vayu/dispatch/delivery"
	"vayu/dispatch/outbox"
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

// BenchmarkGroup measures the cost of 256 deliveries from Insert to Record, with and
// without a million other pending ones.
func BenchmarkGroup(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		for _, waiting := range []int{0, 1_000_000} {
			b.Run(fmt.Sprintf("%s/waiting=%d", engine, waiting), func(b *testing.B) {
				db := benchStores[engine](b)
				if waiting > 0 {
					insertWaiting(b, db, waiting, 1000)
				}
				benchGroup(b, db)
			})
		}
	}
}

func benchGroup(b *testing.B, db *sqlstore.DB) {
	b.Helper()
	const size = 256
	addAccount(b, db, "acc_bench")
	addWebhook(b, db, "acc_bench", schema.Live, "wh_01KAHQX0ZP4T9N6J8S3V5W7Y2B")
	var inserting, recording time.Duration
	for group := 0; b.Loop(); group++ {
		orders := make([]delivery.Draft, size)
		do(b, db, func(tx *sqlstore.Tx) error {
			for i := range orders {
				id := fmt.Sprintf("evt_01KAHQX0ZP4T9N6J%010d", group*size+i)
				orders[i] = delivery.Draft{Webhook: "wh_01KAHQX0ZP4T9N6J8S3V5W7Y2B", Lease: true, Event: &outbox.Event{ID: id, Account: "acc_bench"}}
				if _, err := tx.Exec("INSERT INTO event (id, account_id, mode, type, created_at, envelope) VALUES ($1, 'acc_bench', 'live', 'payment.succeeded', 1, $2)", id, []byte("{}")); err != nil {
					return err
				}
			}
			return nil
		})
		now := time.Now()
		l := lease("token", now.Add(time.Minute))
		rows := insert(b, db, orders, l, now)
		inserting += time.Since(now)
		outcomes := make([]delivery.Outcome, len(rows))
		for i := range rows {
			outcomes[i] = outcome(&rows[i], "token", 200, now)
		}
		began := time.Now()
		if stale := record(b, db, began, outcomes...); stale != 0 || len(rows) != size {
			b.Fatalf("%d rows, %d stale", len(rows), stale)
		}
		recording += time.Since(began)
	}
	n := float64(b.N * size)
	b.ReportMetric(inserting.Seconds()*1e6/n, "µs/insert")
	b.ReportMetric(recording.Seconds()*1e6/n, "µs/record")
	b.ReportMetric(n/(inserting+recording).Seconds(), "rows/s")
}

// BenchmarkLanes measures a start with a million pending deliveries of a thousand
// subscriptions.
func BenchmarkLanes(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			db := benchStores[engine](b)
			insertWaiting(b, db, 1_000_000, 1000)
			for b.Loop() {
				if lanes, err := delivery.Lanes(db.View(context.Background())); err != nil || len(lanes) != 1000 {
					b.Fatal(len(lanes), err)
				}
			}
		})
	}
}

// BenchmarkClaim measures claims of 512 due deliveries of one lane, and of 8 of each
// of 64 lanes, among a million pending ones.
func BenchmarkClaim(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		for _, lanes := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/lanes=%d", engine, lanes), func(b *testing.B) {
				db := benchStores[engine](b)
				insertWaiting(b, db, 1_000_000, 100)
				now, turn := start.Add(time.Hour), 0
				rows := 0
				for b.Loop() {
					turn++
					wants := make([]delivery.LaneClaim, lanes)
					for i := range wants {
						wants[i] = delivery.LaneClaim{Webhook: fmt.Sprintf("wh_00000000000000000%d", 1_000_000_000+(turn+i)%100), Limit: 512 / lanes}
					}
					for _, got := range claim(b, db, wants, lease(fmt.Sprint(turn), now.Add(time.Hour)), now) {
						rows += len(got.Rows)
					}
				}
				b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(rows), "µs/row")
			})
		}
	}
}
