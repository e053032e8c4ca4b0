package access

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// usageLine is a line of usage_day.
func usageLines(t *testing.T, db *sqlstore.DB) []string {
	t.Helper()
	out, err := sqlstore.All(db.View(context.Background()), func(row sqlstore.Scanner) (string, error) {
		var mode, day, operation string
		var calls, failed, counted int64
		err := row.Scan(&mode, &day, &operation, &calls, &failed, &counted)
		return fmt.Sprintf("%s %s %s: %d %d %d", mode, day, operation, calls, failed, counted), err
	}, "SELECT mode, day, operation, calls, failed, counted FROM usage_day ORDER BY mode, day, operation")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestUsageIsCountedByOperation(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		s.clock.Set(november)
		acc := addAccount(t, db, "one", "unlimited")
		live := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live})
		sandbox := addKey(t, db, apikey.Spec{Account: acc, World: schema.Sandbox})
		s.refresh()
		for i := range 5 {
			s.get(live.Key, fmt.Sprintf("/v1/recharge/%d", i))
			s.get(sandbox.Key, fmt.Sprintf("/v1/recharge/%d?count=10", i))
		}
		s.get(live.Key, "/v1/aqi?count=30")
		s.write()
		s.get(live.Key, "/v1/aqi?fail=not_found")
		s.get(live.Key, "/v1/keys")
		s.clock.Set(november.Add(time.Minute))
		s.get(live.Key, "")
		s.get("nobody", "")
		s.write()
		s.write() // nothing is left
		want := []string{
			"live 2026-11-30 GET /v1/aqi: 2 1 31",
			"live 2026-11-30 GET /v1/keys: 1 1 0",
			"live 2026-11-30 GET /v1/recharge/{id}: 5 0 5",
			"live 2026-12-01 GET /v1/aqi: 1 0 1",
			"sandbox 2026-11-30 GET /v1/recharge/{id}: 5 0 0",
		}
		if diff := cmp.Diff(want, usageLines(t, db)); diff != "" {
			t.Error(diff)
		}
		for id, at := range map[string]time.Time{live.Record.ID: november.Add(time.Minute), sandbox.Record.ID: november} {
			if got := sqlstoretest.Value[int64](t, db, "SELECT used_at FROM api_key_use WHERE key_id = $1", id); got != at.UnixMicro() {
				t.Errorf("last used at %s, want %s", time.UnixMicro(got).UTC(), at)
			}
		}
		if got := sqlstoretest.Value[int64](t, db, "SELECT used FROM quota_period WHERE period = '2026-11'"); got != 36 {
			t.Errorf("the unlimited plan has used %d, want 36", got)
		}
	})
}

func TestWritingThatFailsLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		s.clock.Set(november)
		acc := addAccount(t, db, "one", "free")
		key := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live}).Key
		s.refresh()
		s.get(key, "")
		for range 3 {
			// The last statement of the transaction fails: what went before is undone.
			sqlstoretest.Exec(t, db, "ALTER TABLE api_key_use RENAME TO away")
			if err := s.usage.Flush(context.Background()); err == nil {
				t.Error("writing to no table was no error")
			}
			s.get(key, "")
			sqlstoretest.Exec(t, db, "ALTER TABLE away RENAME TO api_key_use")
		}
		if got := fixture.MetricValue(s.t, s.reg, "vayu_usage_unwritten_calls"); got != 4 {
			t.Errorf("%v calls are unwritten, want 4", got)
		}
		s.write()
		if diff := cmp.Diff([]string{"live 2026-11-30 GET /v1/aqi: 4 0 4"}, usageLines(t, db)); diff != "" {
			t.Error(diff)
		}
		if got := sqlstoretest.Value[int64](t, db, "SELECT used FROM quota_period"); got != 4 || s.quotaOf(acc).Used != 4 {
			t.Errorf("%d are stored and %d known, want 4", got, s.quotaOf(acc).Used)
		}
		if got := fixture.MetricValue(s.t, s.reg, "vayu_usage_flush_failures_total"); got != 3 {
			t.Errorf("%v writings failed, want 3", got)
		}
	})
}

// failingRecorder is an Events that fails as long as failing is set.
type failingRecorder struct {
	eventRecorder

	failing bool
}

// Append implements quota.Events.
func (d *failingRecorder) Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (string, error) {
	id, err := d.eventRecorder.Append(tx, account, world, event, data)
	if d.failing {
		err = errors.Join(err, errors.New("no events"))
	}
	return id, err
}

func TestFailedEventIsRetried(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		withEvents(t, db)
		events := &failingRecorder{failing: true}
		s := newServiceFixture(t, db, func(c *Config) { c.Events = events })
		key := addKey(t, db, apikey.Spec{Account: addAccount(t, db, "one", "five"), World: schema.Live}).Key
		s.refresh()
		s.get(key, "/v1/aqi?count=5")
		if err := s.usage.Flush(context.Background()); err == nil {
			t.Error("a failed event was not reported")
		}
		events.failing = false
		s.write()
		if n, used := sqlstoretest.Value[int64](t, db, "SELECT COUNT(*) FROM recorded_event"), sqlstoretest.Value[int64](t, db, "SELECT used FROM quota_period"); n != 2 || used != 5 {
			t.Errorf("%d events and %d used, want 2 and 5", n, used)
		}
	})
}

func TestChangedPlansAreAnnouncedOnce(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		events := withEvents(t, db)
		s := newServiceFixture(t, db, events)
		s.clock.Set(november)
		acc := addAccount(t, db, "one", "five")
		key := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live}).Key
		plan := func(name string) {
			sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { _, _, err := account.SetPlan(tx, s.Settings.Plans, acc, name); return err })
			s.refresh()
		}
		total := func() int64 {
			s.write()
			return sqlstoretest.Value[int64](t, db, "SELECT COUNT(*) FROM recorded_event")
		}
		s.refresh()
		s.get(key, "/v1/aqi?count=4")
		if n := total(); n != 1 {
			t.Errorf("%d events at 80 %%, want 1", n)
		}
		plan("hundred") // 80 % is crossed a second time, without another event
		s.get(key, "/v1/aqi?count=90")
		if n := total(); n != 1 {
			t.Errorf("%d events after a larger plan, want 1", n)
		}
		plan("five") // the next call is rejected, and announces the exceeded quota
		if got := s.get(key, ""); got.code != schema.QuotaExceeded {
			t.Error(got.text)
		}
		if n := total(); n != 2 {
			t.Errorf("%d events after a smaller plan, want 2", n)
		}
		plan("hundred")
		s.get(key, "/v1/aqi?count=50")
		plan("five")
		s.get(key, "")
		if n := total(); n != 2 {
			t.Errorf("%d events after all, want 2", n)
		}
		s.clock.Set(november.Add(time.Minute))
		s.get(key, "/v1/aqi?count=5")
		if n := total(); n != 4 {
			t.Errorf("%d events after the next month's, want 4", n)
		}
	})
}

func TestManyAccountsAreWrittenTogether(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		const accounts = 300 // several statements of several sizes
		var keys []string
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
			keys = nil
			for i := range accounts {
				h, _, err := account.Create(tx, s.Settings.Plans, fmt.Sprintf("a%d", i), "free", time.Now())
				if err != nil {
					return err
				}
				made, _, err := apikey.Create(tx, s.Cipher, apikey.Spec{Account: h.ID}, time.Now())
				if err != nil {
					return err
				}
				keys = append(keys, made.Key)
			}
			return nil
		})
		s.refresh()
		for _, key := range keys {
			s.get(key, "")
			s.get(key, "/v1/any")
		}
		s.write()
		got := [...]int64{
			sqlstoretest.Value[int64](t, db, "SELECT SUM(calls) FROM usage_day"), sqlstoretest.Value[int64](t, db, "SELECT SUM(used) FROM quota_period"),
			sqlstoretest.Value[int64](t, db, "SELECT COUNT(*) FROM quota_period"), sqlstoretest.Value[int64](t, db, "SELECT COUNT(*) FROM api_key_use"),
		}
		if diff := cmp.Diff([...]int64{2 * accounts, 2 * accounts, accounts, accounts}, got); diff != "" {
			t.Error(diff)
		}
	})
}
