package dispatch_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"vayu/dispatch/outbox"
	"vayu/internal/sqlstore/sqlstoretest"
	testfixture "vayu/internal/testing/fixture"
	"vayu/schema"
)

// BenchmarkScaleEvent appends one event after another beside many subscriptions. It
// measures the commit of an event, its matching, and the storing of its deliveries. In
// one shape each account has one subscription, and an event makes one delivery. In the
// other one account has all. The floor is the commit of one row.
func BenchmarkScaleEvent(b *testing.B) {
	for _, engine := range [...]string{"sqlite", "postgres"} {
		for _, size := range [...]int{10, 1_000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/subscriptions=%d/one-each", engine, size), func(b *testing.B) { benchEvent(b, engine, size, size, 200) })
		}
		for _, size := range [...]int{10, 1_000, 10_000} { // which is the most that one may have
			b.Run(fmt.Sprintf("%s/subscriptions=%d/one-has-all", engine, size), func(b *testing.B) { benchEvent(b, engine, size, 1, 2) })
		}
	}
}

func benchEvent(b *testing.B, engine string, subscriptions, accounts, events int) {
	b.Helper()
	db := sqlstoretest.SQLite
	if engine == "postgres" {
		db = sqlstoretest.Postgres
	}
	o := newFixture(b, db(b), nil) // it does not run: what is stored is not sent
	o.insertSubscriptions(subscriptions, accounts)
	testfixture.Run(b, o.book.Run)
	if err := o.book.Ready(b.Context()); err != nil {
		b.Fatal(err)
	}
	var committing, accepting, floor time.Duration
	for n := range events {
		account := fmt.Sprintf("acc_%d", 1_000_000+n%accounts)
		began := time.Now()
		sqlstoretest.Exec(b, o.db, "INSERT INTO seen_signature (key_id, signature, expires_at) VALUES ($1, $2, 1)", fmt.Sprint("key_", n), []byte("signature"))
		floor += time.Since(began)
		began = time.Now()
		id := o.appendEvent(account)
		committing += time.Since(began)
		event := outbox.Event{
			ID: id, Account: account, World: schema.Live, Type: schema.EventPaymentSucceeded,
			CreatedAt: began, Envelope: []byte(`{"id":"evt"}`),
		}
		began = time.Now()
		if _, err := o.Publish(context.Background(), []outbox.Event{event}); err != nil {
			b.Fatal(err)
		}
		accepting += time.Since(began)
	}
	deliveries := sqlstoretest.Value[int](o, o.db, "SELECT count(*) FROM delivery")
	if want := events * subscriptions / accounts; deliveries != want {
		b.Fatalf("%d deliveries are stored, want %d", deliveries, want)
	}
	each := func(d time.Duration, n int) float64 { return float64(d.Microseconds()) / float64(n) }
	b.ReportMetric(each(committing, events), "µs/commit")
	b.ReportMetric(each(accepting, events), "µs/accept")
	b.ReportMetric(each(accepting, deliveries), "µs/delivery")
	b.ReportMetric(each(floor, events), "µs/floor")
	b.ReportMetric((committing+accepting).Seconds()/floor.Seconds(), "x-floor")
}

// insertSubscriptions creates accounts with the same number of subscriptions each.
// They have no secrets, because nothing is sent to them.
func (o *fixture) insertSubscriptions(subscriptions, accounts int) {
	o.Helper()
	sqlstoretest.Exec(o, o.db, `INSERT INTO account (id, name, plan, allow_list, created_at, revision)
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $1)
		SELECT 'acc_' || CAST(1000000 + i AS TEXT), 'crowd ' || CAST(i AS TEXT), 'unlimited', '', 1, 1 FROM n`, accounts)
	sqlstoretest.Exec(o, o.db, `INSERT INTO webhook (id, account_id, mode, url, events, active, api_version, secret, secret_last4, created_at, revision)
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $1)
		SELECT 'wh_00000000000000000' || CAST(1000000000 + i AS TEXT), 'acc_' || CAST(1000000 + i % $2 AS TEXT), 'live', 'https://receiver.example/hooks',
			'payment.succeeded', 1, '', $3, '', 1, i + 1 FROM n`, subscriptions, accounts, []byte{1})
	sqlstoretest.Exec(o, o.db, "UPDATE webhook_revision SET n = $1", subscriptions)
}

// BenchmarkScaleWebhooks measures the deliveries a second of one instance, from a
// committed event to a recorded 2xx over TLS. Its floor is a bare client.
func BenchmarkScaleWebhooks(b *testing.B) {
	const events, endpoints = 5000, 8
	b.Run("sqlite", func(b *testing.B) { benchThroughput(b, sqlstoretest.SQLite(b), events, true, endpoints, nil) })
	b.Run("postgres", func(b *testing.B) { benchThroughput(b, sqlstoretest.Postgres(b), events, true, endpoints, nil) })
	b.Run("postgres-kafka", func(b *testing.B) {
		benchThroughput(b, sqlstoretest.Postgres(b), events, true, endpoints, benchTopic(b))
	})
}
