package access

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/apikey"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

func TestFlushSkipsMissingRows(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		s.clock.Set(november)
		acc, gone := addAccount(t, db, "one", "free"), addAccount(t, db, "gone", "free")
		kept := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live}).Key
		lost := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live})
		orphan := addKey(t, db, apikey.Spec{Account: gone, World: schema.Live})
		s.refresh()
		for _, key := range []string{kept, lost.Key, orphan.Key} {
			s.get(key, "")
		}
		sqlstoretest.Exec(t, db, "DELETE FROM api_key WHERE id IN ($1, $2)", lost.Record.ID, orphan.Record.ID)
		sqlstoretest.Exec(t, db, "DELETE FROM account WHERE id = $1", gone)
		s.write()
		if diff := cmp.Diff([]string{"live 2026-11-30 GET /v1/aqi: 2 0 2"}, usageLines(t, db)); diff != "" {
			t.Error(diff) // the usage of the removed key still counts for its account
		}
		got := [...]int64{
			sqlstoretest.Value[int64](t, db, "SELECT used FROM quota_period"), sqlstoretest.Value[int64](t, db, "SELECT COUNT(*) FROM api_key_use"),
			int64(fixture.MetricValue(s.t, s.reg, "vayu_usage_dropped_total")), int64(fixture.MetricValue(s.t, s.reg, "vayu_usage_flush_failures_total")), int64(fixture.MetricValue(s.t, s.reg, "vayu_usage_unwritten_calls")),
		}
		if diff := cmp.Diff([...]int64{2, 1, 3, 0, 0}, got); diff != "" {
			t.Error(diff)
		}
		s.refresh() // reads everything, because the cache contained removed rows
		for key, code := range map[string]schema.Code{kept: "", lost.Key: schema.Unauthorized, orphan.Key: schema.Unauthorized} {
			if answer := s.get(key, ""); answer.code != code {
				t.Errorf("got %d %s, want %q", answer.status, answer.text, code)
			}
		}
		s.write()
		if n := sqlstoretest.Value[int64](t, db, "SELECT used FROM quota_period"); n != 3 {
			t.Errorf("%d are used, want 3", n)
		}
		if got := fixture.MetricValue(s.t, s.reg, "vayu_usage_dropped_total"); got != 3 {
			t.Errorf("%v are counted as dropped, want 3", got)
		}
	})
}
