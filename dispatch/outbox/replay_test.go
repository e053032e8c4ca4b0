package outbox

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// addWebhook adds a subscription of acc_a to two types, created at a time.
func (d *outboxFixture) addWebhook(id string, created time.Time, deleted any) {
	d.t.Helper()
	d.exec(`INSERT INTO webhook (id, account_id, mode, url, events, active, api_version, secret, secret_last4, created_at, deleted_at, revision)
		VALUES ($1, 'acc_a', 'live', 'https://example.com', 'payment.succeeded quota.warning', 1, '', $2, '', $3, $4, 1)`,
		id, []byte("secret"), created.UnixMicro(), deleted)
}

// deliver stores a delivery, or a retry of one.
func (d *outboxFixture) deliver(event, webhook, status, retryOf string) {
	d.t.Helper()
	d.exec(`INSERT INTO delivery (id, event_id, webhook_id, account_id, mode, retry_of, state, attempts, due_at, token, created_at, retried_as)
		VALUES ($1, $2, $3, 'acc_a', 'live', $4, $5, 1, 0, '', 0, '')`, "dlv_"+event+webhook+retryOf, event, webhook, retryOf, status)
}

// addRelayedEvent commits an event as if the relay had published it.
func (d *outboxFixture) addRelayedEvent(account string, typ schema.EventType, data map[string]any) (id string) {
	d.t.Helper()
	if err := d.DB.Update(d.t.Context(), func(tx *sqlstore.Tx) error {
		e, err := d.Store(tx, account, schema.Live, typ, data)
		id = e.ID
		return err
	}); err != nil {
		d.t.Fatal(err)
	}
	return id
}

// unpublished returns the ids in the outbox.
func (d *outboxFixture) unpublished() (ids []string) {
	d.t.Helper()
	ids, err := sqlstore.All(d.DB.View(d.t.Context()), func(row sqlstore.Scanner) (id string, err error) {
		err = row.Scan(&id)
		return id, err
	}, "SELECT event_id FROM outbox ORDER BY event_id")
	if err != nil {
		d.t.Fatal(err)
	}
	return ids
}

func (d *outboxFixture) replay(r Replay) Replayed {
	d.t.Helper()
	reports := 0
	done, err := d.Replay(d.t.Context(), r, func(Replayed) error { reports++; return nil })
	if err != nil || reports == 0 {
		d.t.Fatalf("replaying: %v after %d reports", err, reports)
	}
	return done
}

func TestReplayFindsMissingDeliveries(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		d.clock.Set(noon)
		d.addWebhook("wh_a", noon.Add(time.Minute+schema.WebhookClockMargin), nil) // by the clock of another instance
		d.addWebhook("wh_b", noon, nil)
		d.addWebhook("wh_late", noon.Add(3*time.Minute+schema.WebhookClockMargin+time.Second), nil)
		d.addWebhook("wh_gone", noon, noon.UnixMicro())
		d.clock.Set(noon.Add(time.Minute))
		early := d.addRelayedEvent("acc_a", schema.EventPaymentSucceeded, nothing())
		d.clock.Set(noon.Add(2 * time.Minute))
		lost := d.addRelayedEvent("acc_a", schema.EventPaymentSucceeded, nothing())
		half := d.addRelayedEvent("acc_a", schema.EventQuotaWarning, nothing())
		d.deliver(half, "wh_a", "delivered", "")
		retried := d.addRelayedEvent("acc_a", schema.EventPaymentSucceeded, nothing())
		d.deliver(retried, "wh_a", "failed", "")
		d.deliver(retried, "wh_a", "delivered", "dlv_before")
		d.deliver(retried, "wh_b", "cancelled", "")
		d.addRelayedEvent("acc_a", schema.EventPaymentFailed, nothing())    // has no subscriber
		d.addRelayedEvent("acc_b", schema.EventPaymentSucceeded, nothing()) // has no webhook
		test := d.addRelayedEvent("acc_a", schema.EventPaymentSucceeded, map[string]any{"test": true})
		still := d.appendEvent("acc_a")
		d.clock.Set(noon.Add(3 * time.Minute))
		late := d.addRelayedEvent("acc_a", schema.EventPaymentSucceeded, nothing())
		d.clock.Set(noon.Add(2 * time.Hour))

		all := Replay{From: noon.Add(2 * time.Minute), To: noon.Add(3 * time.Minute)}
		dry := all
		dry.DryRun = true
		want := Replayed{Scanned: 7, Missing: 3, Tests: 1, Queued: 0, Until: all.To}
		if diff := cmp.Diff(want, d.replay(dry)); diff != "" {
			t.Errorf("dry run (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{still}, d.unpublished()); diff != "" {
			t.Errorf("a dry run changed the outbox (-want +got):\n%s", diff)
		}
		typed := all
		typed.Type = schema.EventQuotaWarning
		if diff := cmp.Diff(Replayed{Scanned: 1, Missing: 1, Queued: 1, Until: all.To}, d.replay(typed)); diff != "" {
			t.Errorf("of a type (-want +got):\n%s", diff)
		}
		other := all
		other.Account = "acc_b"
		if diff := cmp.Diff(Replayed{Scanned: 1, Until: all.To}, d.replay(other)); diff != "" {
			t.Errorf("of an account (-want +got):\n%s", diff)
		}
		want.Queued = 1 // half and still wait already
		if diff := cmp.Diff(want, d.replay(all)); diff != "" {
			t.Errorf("of all (-want +got):\n%s", diff)
		}
		want.Queued = 0
		if diff := cmp.Diff(want, d.replay(all)); diff != "" {
			t.Errorf("of all again (-want +got):\n%s", diff)
		}
		ids := []string{lost, half, still}
		slices.Sort(ids)
		if diff := cmp.Diff(ids, d.unpublished()); diff != "" {
			t.Errorf("what the relay has (-want +got):\n%s", diff)
		}
		all.Tests, all.From, all.To = true, noon, noon.Add(time.Hour)
		if got := d.replay(all); got.Missing != 6 || got.Queued != 3 || got.Tests != 0 {
			t.Errorf("got %+v, want the test event and those of before and after, too", got)
		}
		shelf := newMemoryPublisher()
		d.run(shelf)
		shelf.await(t, early, lost, half, still, test, late)
	})
}

// nothing is empty event data.
func nothing() map[string]any { return map[string]any{} }

// Groups do not split, and no event between two groups is skipped.
func TestReplayOfManyGroups(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		d.clock.Set(noon)
		d.addWebhook("wh_a", noon, nil)
		const count = 2*replayGroup + 1
		if err := d.DB.Update(t.Context(), func(tx *sqlstore.Tx) error {
			for i := range count {
				if _, err := d.Store(tx, "acc_a", schema.Live, schema.EventPaymentSucceeded, map[string]any{"n": i}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		groups := 0
		enough := errors.New("enough")
		r := Replay{From: noon, To: noon.Add(time.Minute)}
		done, err := d.Replay(t.Context(), r, func(Replayed) error { groups++; return enough })
		if !errors.Is(err, enough) || done.Queued != replayGroup || groups != 1 {
			t.Errorf("got %+v, %v after %d groups, want an end after the first", done, err, groups)
		}
		if got := d.replay(r); got.Missing != count || got.Queued != count-replayGroup || len(d.unpublished()) != count {
			t.Errorf("got %+v, and %d wait, want %d", got, len(d.unpublished()), count)
		}
	})
}

func TestReplayReach(t *testing.T) {
	t.Parallel()
	d := newFixture(t, sqlstoretest.SQLite(t))
	d.clock.Set(noon)
	for from, want := range map[time.Time]error{noon.Add(-ReplayReach): nil, noon.Add(-ReplayReach - 1): ErrReach} {
		_, err := d.Replay(t.Context(), Replay{From: from, To: noon}, func(Replayed) error { return nil })
		if !errors.Is(err, want) {
			t.Errorf("from %s: got %v, want %v", from, err, want)
		}
	}
	if got := fmt.Sprint(ReplayReach); got != "696h0m0s" { // 29 days, which the error says
		t.Errorf("the reach is %s", got)
	}
}
