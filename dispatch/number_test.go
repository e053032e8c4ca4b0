package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"vayu/dispatch"
	"vayu/dispatch/subscription"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// rechargeEvent returns the data of a recharge event. Its reference looks like the
// field with the number.
func rechargeEvent(transaction, number string) *schema.RechargeEvent {
	return &schema.RechargeEvent{TransactionID: transaction, Mobile: schema.MaskNumber(number), RefID: `"mobile":"XXXXXX3210"`}
}

// A subscription with clear_numbers gets clear numbers, with a signature over them.
// Other subscriptions, the store and other fields have masked ones.
func TestClearNumbersNeedTheOption(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		masked, plain := receive(t, false, nil), receive(t, false, nil)
		var away atomic.Bool
		away.Store(true)
		o := newFixture(t, db, nil, func(c *dispatch.Config) {
			c.Number = func(_ context.Context, of schema.Owner, transaction string) (string, error) {
				switch {
				case of.Account != "acc_a" || of.World != schema.Live:
					return "", fmt.Errorf("asked for %v", of)
				case transaction == "txn_away" && away.CompareAndSwap(true, false):
					return "", errors.New("the store is away")
				}
				return map[string]string{"txn_1": "9876543210", "txn_away": "9876543211", "txn_other": "9876540000"}[transaction], nil
			}
		})
		a := o.account("a")
		o.update(func(tx *sqlstore.Tx) error {
			for url, wanted := range map[string]bool{masked.URL: false, plain.URL: true} {
				_, _, err := o.book.Create(tx, subscription.Spec{
					Owner: schema.Owner{Account: a, World: schema.Live}, URL: url, Secret: secret, ClearNumbers: wanted,
					Events: []schema.EventType{schema.EventRechargeCompleted, schema.EventPaymentSucceeded},
				}, time.Now())
				if err != nil {
					return err
				}
			}
			return nil
		})
		o.run()
		for transaction, number := range map[string]string{"txn_1": "9876543210", "txn_away": "9876543211", "txn_gone": "9876543212", "txn_other": "9876543213"} {
			o.update(func(tx *sqlstore.Tx) error {
				_, err := o.outbox.Append(tx, a, schema.Live, schema.EventRechargeCompleted, rechargeEvent(transaction, number))
				return err
			})
		}
		o.appendEvent(a)
		const events = 5
		for name, c := range map[string]struct {
			r    *receiver
			want map[string]string
		}{
			"masked": {masked, map[string]string{"txn_1": "XXXXXX3210", "txn_away": "XXXXXX3211", "txn_gone": "XXXXXX3212", "txn_other": "XXXXXX3213"}},
			"clear":  {plain, map[string]string{"txn_1": "9876543210", "txn_away": "9876543211", "txn_gone": "XXXXXX3212", "txn_other": "XXXXXX3213"}},
		} {
			for _, d := range c.r.wait(t, events) {
				if d.refused != nil {
					t.Errorf("%s: the signature of %s: %v", name, d.ID, d.refused)
				}
				if d.Type == schema.EventPaymentSucceeded {
					continue
				}
				var data schema.RechargeEvent
				if err := json.Unmarshal(d.Data, &data); err != nil {
					t.Fatal(err)
				}
				if got := data.Mobile; got != c.want[data.TransactionID] {
					t.Errorf("%s: the number of %s: got %q, want %q", name, data.TransactionID, got, c.want[data.TransactionID])
				}
				if data.RefID != `"mobile":"XXXXXX3210"` {
					t.Errorf("%s: the reference became %q", name, data.RefID)
				}
			}
		}
		o.waitSettled()
		if n := sqlstoretest.Value[int](o, o.db, "SELECT count(*) FROM attempt WHERE number > 1"); n != 0 {
			t.Errorf("%d attempts were recorded for a number that could not be read, want none", n)
		}
	})
}

// If clear_numbers is revoked while an attempt connects, the attempt does not send the
// number.
func TestRevokedClearNumbersStopTheAttempt(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		var o *fixture
		var id string
		r := receive(t, false, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
		o = newFixture(t, db, nil, func(c *dispatch.Config) {
			c.Number = func(context.Context, schema.Owner, string) (string, error) {
				err := db.Update(context.Background(), func(tx *sqlstore.Tx) error {
					no := false
					_, _, err := o.book.Update(tx, schema.Owner{Account: "acc_a", World: schema.Live}, id, subscription.Patch{ClearNumbers: &no}, time.Now())
					return err
				})
				return "9876543210", errors.Join(err, o.book.Refresh(context.Background()))
			}
		})
		a := o.account("a")
		o.update(func(tx *sqlstore.Tx) error {
			made, _, err := o.book.Create(tx, subscription.Spec{
				Owner: schema.Owner{Account: a, World: schema.Live}, URL: r.URL, Secret: secret, ClearNumbers: true,
				Events: []schema.EventType{schema.EventRechargeCompleted},
			}, time.Now())
			id = made.Webhook.ID
			return err
		})
		o.run()
		o.update(func(tx *sqlstore.Tx) error {
			_, err := o.outbox.Append(tx, a, schema.Live, schema.EventRechargeCompleted, rechargeEvent("txn_1", "9876543210"))
			return err
		})
		for _, d := range r.wait(t, 1) {
			var data schema.RechargeEvent
			if err := json.Unmarshal(d.Data, &data); err != nil || data.Mobile != "XXXXXX3210" {
				t.Errorf("got %q, %v; want it masked", data.Mobile, err)
			}
		}
	})
}
