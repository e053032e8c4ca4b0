package access

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/apikey"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// figures returns a metric's values by label.
func (s *serviceFixture) figures(name string) map[string]float64 {
	s.t.Helper()
	families, err := s.reg.Gather()
	if err != nil {
		s.t.Fatal(err)
	}
	out := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			label := ""
			for _, pair := range m.GetLabel() {
				label += pair.GetValue()
			}
			out[label] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	if len(out) == 0 {
		s.t.Fatalf("there is no metric %s", name)
	}
	return out
}

func TestMetricsTellWhatHappens(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, func(c *Config) { c.Settings.Rate, c.Settings.Burst = 1, 9 })
		begun := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		s.clock.Set(begun)
		acc := addAccount(t, db, "one", "five")
		key := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live})
		away := addKey(t, db, apikey.Spec{Account: acc, AllowList: []string{"192.0.2.1"}})
		signed := addKey(t, db, apikey.Spec{Account: acc, World: schema.Sandbox, RequireSignature: true})
		revoked := addKey(t, db, apikey.Spec{Account: acc})
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { _, _, err := apikey.Revoke(tx, revoked.Record.ID, begun); return err })
		s.refresh()
		for range 11 { // five go, four are over the quota, two over the rate
			s.get(key.Key, "")
		}
		for _, k := range []apikey.Created{away, signed, revoked} {
			s.get(k.Key, "")
		}
		s.get(signed.Key, "/v1/keys")
		s.get("nobody", "")

		want := map[string]float64{
			"quota_exceeded": 4, "rate_limited": 2, "ip_not_allowed": 1, "signature_required": 1, "key_revoked": 1,
			"insufficient_scope": 1, "unauthorized": 1, "key_expired": 0, "signature_invalid": 0,
		}
		if diff := cmp.Diff(want, s.figures("vayu_access_refusals_total")); diff != "" {
			t.Error(diff)
		}
		s.clock.Set(begun.Add(7 * time.Second))
		for name, want := range map[string]float64{"vayu_access_keys": 3, "vayu_access_age_seconds": 7, "vayu_usage_unwritten_calls": 14} {
			if got := fixture.MetricValue(s.t, s.reg, name); got != want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
		s.write()
		if got := fixture.MetricValue(s.t, s.reg, "vayu_usage_unwritten_calls"); got != 0 {
			t.Errorf("%v calls are unwritten after writing", got)
		}
		for _, k := range []apikey.Created{key, away, signed, revoked} {
			if s.log.Count(k.Key) != 0 {
				t.Error("the log holds a key")
			}
		}
	})
}
