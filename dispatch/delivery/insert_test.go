package delivery_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"vayu/dispatch/delivery"
	"vayu/dispatch/outbox"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

func TestIDsOfACallAscend(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			ids := delivery.NewIDs(now.Add(time.Duration(i)*time.Millisecond), 5000)
			if !slices.IsSorted(ids) {
				t.Errorf("caller %d: the ids do not ascend", i)
			}
		})
	}
	callers.Wait()
}

func TestATestEventIsDueAtOnce(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *fixture) {
		webhook := s.webhook(schema.Sandbox, 1)
		e := addEvent(t, s.DB, s.account, schema.Sandbox, "evt_01KAHR3M5Q7S9V1X3Z5B7D0001")
		var id string
		test := func(tx *sqlstore.Tx) (err error) { id, err = s.Test(tx, e, webhook); return err }
		do(t, s.DB, test)
		if !slices.Equal(s.woken, []string{webhook}) {
			t.Errorf("woken were %v", s.woken)
		}
		rows := claim(t, s.DB, wantOf(webhook), lease("t", s.Now().Add(time.Minute)), s.Now())[0].Rows
		if len(rows) != 1 || rows[0].ID != id || rows[0].World != schema.Sandbox {
			t.Errorf("got %+v, want %s", rows, id)
		}
		if err := s.DB.Update(t.Context(), test); err == nil {
			t.Error("the same event to the same webhook again: got no error")
		}
		if !slices.Equal(s.woken, []string{webhook}) {
			t.Errorf("the same event to the same webhook again: woken were %v", s.woken)
		}
		if err := s.DB.Update(t.Context(), func(tx *sqlstore.Tx) error {
			_, err := s.Test(tx, &outbox.Event{ID: "evt_none", Account: s.account}, webhook)
			return err
		}); err == nil {
			t.Error("an event that is not there was delivered")
		}
	})
}
