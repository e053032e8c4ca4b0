package deliveryapi_test

import (
	"fmt"
	"strings"
	"testing"

	"vayu/dispatch/deliveryapi"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// insertSpread stores 20,000 deliveries with an attempt each, of many events, accounts
// and states, so that PostgreSQL prefers the indexes.
func insertSpread(t *testing.T, db *sqlstore.DB) {
	t.Helper()
	insertCrowd(t, db, 20_000, 100)
	sqlstoretest.Exec(t, db, `INSERT INTO event (id, account_id, mode, type, created_at, envelope)
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4999)
		SELECT 'evt_' || CAST(i AS TEXT), 'acc_crowd', 'live', 'payment.succeeded', 1, $1 FROM n`, []byte("{}"))
	sqlstoretest.Exec(t, db, "UPDATE delivery SET event_id = 'evt_' || CAST(due_at % 5000 AS TEXT)")
	sqlstoretest.Exec(t, db, "UPDATE delivery SET account_id = 'acc_' || CAST(due_at % 7 AS TEXT) WHERE due_at % 100 > 0")
	sqlstoretest.Exec(t, db, "UPDATE delivery SET state = 'failed', finished_at = 1 WHERE due_at % 50 = 0")
	sqlstoretest.Exec(t, db, "UPDATE delivery SET retried_as = 'dlv' WHERE state = 'failed' AND due_at % 100 > 0")
	sqlstoretest.Exec(t, db, "UPDATE delivery SET status_class = CASE WHEN due_at % 50 = 0 THEN 5 WHEN due_at % 70 = 1 THEN 0 ELSE 2 END")
	sqlstoretest.Exec(t, db, `INSERT INTO attempt (delivery_id, number, at, duration, stage, http_status, error, body, recorded_at)
		SELECT id, 1, 1, 1, 'status', 500, '', $1, 1 FROM delivery`, make([]byte, 1000)) // as receivers answer
}

// readsAttempts reports whether a plan reads attempts other than by key.
func readsAttempts(plan string) bool {
	return !strings.Contains(plan, "USING INDEX sqlite_autoindex_attempt_1") && !strings.Contains(plan, "attempt_pkey") && strings.Contains(plan, "attempt") ||
		strings.Contains(plan, "SCAN a") || strings.Contains(plan, "Seq Scan on attempt")
}

func TestListsUseIndexes(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		insertSpread(t, db)
		const wh = "wh_000000000000000001000000001"
		for _, analyzed := range []bool{false, true} {
			if analyzed {
				sqlstoretest.Exec(t, db, "ANALYZE")
			} else if db.Name() == "postgres" {
				continue // it has a daemon for that
			}
			for _, c := range []struct {
				want    string
				state   schema.DeliveryState
				retried string
				webhook string
				class   string
			}{
				{want: "delivery_account"},
				{want: "delivery_webhook", webhook: wh},
				{"delivery_account", schema.DeliveryWaiting, "", "", ""},
				{"delivery_account", schema.DeliveryCancelled, "false", "", ""},
				{"delivery_account", "", "true", "", ""},
				{"delivery_webhook", schema.DeliveryWaiting, "", wh, ""},
				{"delivery_webhook", schema.DeliveryDelivered, "", wh, ""},
				{"delivery_webhook", "", "false", wh, ""},
				{"delivery_failed", schema.DeliveryFailed, "", "", ""},
				{"delivery_failed", schema.DeliveryFailed, "true", "", ""},
				{"delivery_failed_webhook", schema.DeliveryFailed, "", wh, ""},
				{"delivery_failed_webhook", schema.DeliveryFailed, "true", wh, ""},
				{"delivery_retriable", schema.DeliveryFailed, "false", "", ""},
				{"delivery_retriable_webhook", schema.DeliveryFailed, "false", wh, ""},
				{want: "delivery_class", class: "5xx"},
				{want: "delivery_class", class: "none", retried: "false"},
				{want: "delivery_class", class: "5xx", state: schema.DeliveryFailed, retried: "false"},
				{want: "delivery_class", class: "4xx", state: schema.DeliveryWaiting},
				{want: "delivery_class_webhook", class: "3xx", webhook: wh},
				{want: "delivery_class_webhook", class: "none", state: schema.DeliveryFailed, webhook: wh},
				{want: "delivery_account", class: "2xx"},
				{want: "delivery_webhook", class: "2xx", webhook: wh},
			} {
				t.Run(fmt.Sprintf("%+v, analyzed: %v", c, analyzed), func(t *testing.T) {
					text, lowest, args, lowestArgs := deliveryapi.ListQueries(c.state, c.retried, c.webhook, c.class)
					for text, args := range map[string][]any{text: args, lowest: lowestArgs} {
						if got := sqlstoretest.Plan(t, db, text, args...); !strings.Contains(got, c.want+" ") || strings.Contains(got, "TEMP B-TREE") || readsAttempts(got) {
							t.Errorf("the query does not use %s alone:\n%s\n%s", c.want, text, got)
						}
					}
				})
			}
		}
	})
}

// The deliveries of an event are found by their unique key, whatever other conditions
// there are.
func TestListOfAnEventUsesIndex(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		insertSpread(t, db)
		sqlstoretest.Exec(t, db, "ANALYZE")
		index := "delivery_event_id_webhook_id_retry_of_key"
		if db.Name() != "postgres" {
			index = "sqlite_autoindex_delivery_2"
		}
		for _, webhook := range []string{"", "wh_000000000000000001000000001"} {
			for _, state := range []schema.DeliveryState{"", schema.DeliveryWaiting, schema.DeliveryFailed} {
				text, args := deliveryapi.EventQuery("evt_42", webhook, state)
				if got := sqlstoretest.Plan(t, db, text, args...); !strings.Contains(got, index+" ") || readsAttempts(got) {
					t.Errorf("%q of %q does not use %s:\n%s", state, webhook, index, got)
				}
			}
		}
	})
}
