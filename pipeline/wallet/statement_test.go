package wallet

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"vayu/internal/state"
	"vayu/schema"
)

func TestTheStatementTellsWhatHasChangedTheWallet(t *testing.T) {
	t.Parallel()
	eachSite(t, func(t *testing.T, s *site) {
		key, o := s.key(schema.Sandbox), s.one.In(schema.Sandbox)
		paid := s.Ask(key, "POST", topups, `{"amount":1000}`).Want(t, "a payment", 200).Said("payment_id")
		var want []any
		line := func(subject, kind string, at time.Time, available, held float64) {
			want = append([]any{map[string]any{
				"subject": subject, "kind": kind, "at": at.Format("2006-01-02T15:04:05.000000Z"), "available": available, "held": held,
			}}, want...)
		}
		line(paid, "topup", noon, 1000, 0)
		for i, acts := range [][]string{
			{kindReserve, kindCommit, kindRefund}, {kindReserve, kindRelease, kindSuspend}, {kindReserve},
		} {
			subject := "txn_" + ulid.MustNewDefault(s.Now()).String()
			for _, name := range acts {
				s.clock.Pass(time.Minute)
				now := s.Now()
				do(t, s.DB, func(tx *state.Tx) error { return actAt(tx, now, o, name, subject, schema.Paise(100*(i+1))) })
				amount := float64(i + 1)
				switch name {
				case kindReserve:
					line(subject, name, now, -amount, amount)
				case kindCommit:
					line(subject, name, now, 0, -amount)
				case kindRelease:
					line(subject, name, now, amount, -amount)
				case kindRefund:
					line(subject, name, now, amount, 0)
				}
			}
		}
		all := s.Ask(key, "GET", "/v1/wallet/entries", "").Want(t, "the statement", 200)
		if diff := cmp.Diff(want, all.At("data")); diff != "" {
			t.Error(diff)
		}
		kinds := []string{"reserve", "release", "reserve", "refund", "commit", "reserve", "topup"}
		if diff := cmp.Diff(kinds, pages(t, s, "/v1/wallet/entries?limit=2", "kind")); diff != "" {
			t.Errorf("by pages: %s", diff)
		}
		if got := pages(t, s, "/v1/wallet/entries?limit=1&from=2026-11-20T12:01:00Z&to=2026-11-20T12:03:00Z", "kind"); !cmp.Equal(got, []string{"commit", "reserve"}) {
			t.Errorf("of some minutes: %v", got)
		}
		if other := s.Ask(s.key(schema.Live), "GET", "/v1/wallet/entries", ""); len(other.At("data").([]any)) != 0 {
			t.Errorf("the other world: %s", other.Text)
		}
	})
}

// Pages lose and double nothing when everything happened in one instant.
func TestPagesOfOneInstant(t *testing.T) {
	t.Parallel()
	eachSite(t, func(t *testing.T, s *site) {
		o := s.one.In(schema.Sandbox)
		s.Ask(s.key(schema.Sandbox), "POST", topups, `{"amount":1000}`)
		for i := range 4 {
			subject := "txn_" + ulid.MustNewDefault(noon).String()
			do(t, s.DB, func(tx *state.Tx) error { return act(tx, o, kindReserve, subject, 100) })
			do(t, s.DB, func(tx *state.Tx) error { return act(tx, o, []string{kindCommit, kindRelease}[i%2], subject, 100) })
		}
		whole := pages(t, s, "/v1/wallet/entries?limit=1000", "kind")
		want := []string{"release", "reserve", "commit", "reserve", "release", "reserve", "commit", "reserve", "topup"}
		if diff := cmp.Diff(want, whole); diff != "" {
			t.Error(diff)
		}
		for limit := range 5 {
			if got := pages(t, s, fmt.Sprintf("/v1/wallet/entries?limit=%d", limit+1), "kind"); !cmp.Equal(got, want) {
				t.Errorf("%d on a page: %v", limit+1, got)
			}
		}
	})
}
