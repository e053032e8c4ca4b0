package deliveryapi_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"vayu/dispatch/delivery"
	"vayu/dispatch/outbox"
	"vayu/dispatch/sender"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/workqueue"
	"vayu/schema"
)

// start is the start time of tests. It has microseconds, the precision of the store.
var start = time.Date(2026, 11, 21, 6, 0, 0, 123456000, time.UTC)

// do runs a change in a transaction.
func do(tb testing.TB, db *sqlstore.DB, change func(tx *sqlstore.Tx) error) {
	tb.Helper()
	if err := db.Update(context.Background(), change); err != nil {
		tb.Fatal(err)
	}
}

// queryValue reads one value from the store.
func queryValue[T any](tb testing.TB, db *sqlstore.DB, query string, args ...any) (value T) {
	tb.Helper()
	if err := db.View(context.Background()).QueryRow(query, args...).Scan(&value); err != nil {
		tb.Fatal(query, err)
	}
	return value
}

// addAccount creates an account.
func addAccount(tb testing.TB, db *sqlstore.DB, id string) {
	tb.Helper()
	sqlstoretest.Exec(tb, db, "INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ($1, $1, 'unlimited', '', 1, 1)", id)
}

// addWebhook creates a subscription.
func addWebhook(tb testing.TB, db *sqlstore.DB, account string, world schema.World, id string) {
	tb.Helper()
	sqlstoretest.Exec(tb, db, `INSERT INTO webhook (id, account_id, mode, url, events, active, api_version, secret, secret_last4, created_at, revision)
		VALUES ($1, $2, $3, 'https://receiver.example/' || $1, 'payment.succeeded', 1, '2026-11-01', $4, 'last', 1, 1)`, id, account, world.String(), []byte{1})
}

// addEvent stores an event.
func addEvent(tb testing.TB, db *sqlstore.DB, account string, world schema.World, id string) *outbox.Event {
	tb.Helper()
	e := &outbox.Event{
		ID: id, Account: account, World: world, Type: schema.EventPaymentSucceeded, CreatedAt: start,
		Envelope: []byte(`{"id":"` + id + `","type":"payment.succeeded","created":1795240800,"api_version":"2026-11-01","data":{"amount":499.5}}`),
	}
	sqlstoretest.Exec(tb, db, "INSERT INTO event (id, account_id, mode, type, created_at, envelope) VALUES ($1, $2, $3, $4, $5, $6)",
		e.ID, e.Account, world.String(), string(e.Type), start.UnixMicro(), e.Envelope)
	return e
}

// lease returns a lease with the given token.
func lease(token string, until time.Time) workqueue.Lease {
	return workqueue.Lease{Token: token, Until: until}
}

func insert(tb testing.TB, db *sqlstore.DB, orders []delivery.Draft, l workqueue.Lease, now time.Time) (rows []delivery.Row) {
	tb.Helper()
	do(tb, db, func(tx *sqlstore.Tx) (err error) {
		rows, err = delivery.Insert(tx, orders, l, now)
		return err
	})
	return rows
}

func claim(tb testing.TB, db *sqlstore.DB, wants []delivery.LaneClaim, l workqueue.Lease, now time.Time) (got []delivery.Claimed) {
	tb.Helper()
	do(tb, db, func(tx *sqlstore.Tx) (err error) {
		got, err = delivery.Claim(tx, wants, l, now)
		return err
	})
	return got
}

func record(tb testing.TB, db *sqlstore.DB, now time.Time, outcomes ...delivery.Outcome) (stale int) {
	tb.Helper()
	do(tb, db, func(tx *sqlstore.Tx) (err error) {
		stale, err = delivery.Record(tx, outcomes, now)
		return err
	})
	return stale
}

// outcome returns an attempt that was answered with a status at a time.
func outcome(r *delivery.Row, token string, status int, at time.Time) delivery.Outcome {
	result := sender.Result{SentAt: at, Duration: 12345 * time.Microsecond, Stage: schema.StageStatus, Status: status, Body: []byte("ok")}
	if !result.OK() {
		result.Error = fmt.Sprint("the answer was ", status)
	}
	return delivery.Outcome{Row: r, Token: token, Result: result, Transition: delivery.AfterAttempt(r.Attempts+1, result.OK(), at)}
}
