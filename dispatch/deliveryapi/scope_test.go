package deliveryapi_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/delivery"
	"vayu/dispatch/deliveryapi"
	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

func TestDeliveriesNeedTheReadScopeOfTheirEvent(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		// The keys are created before the service reads them.
		keys := map[string][]schema.Scope{
			"none": {schema.WebhooksManage}, "recharge": {schema.WebhooksManage, schema.RechargeRead}, "quota": {schema.WebhooksManage, schema.AccountRead},
		}
		s := newFixture(t, db)
		webhook := s.webhook(schema.Live, 1)
		paid, quota := s.delivery(schema.Live, webhook), s.delivery(schema.Live, webhook)
		sqlstoretest.Exec(t, db, "UPDATE event SET type = 'quota.warning' WHERE id = $1", quota.EventID)
		for name, scopes := range keys {
			key := s.narrow(scopes...)
			want := []string{}
			if name == "recharge" {
				want = append(want, paid.ID)
			}
			if name == "quota" {
				want = append(want, quota.ID)
			}
			for _, path := range []string{
				"/v1/deliveries", "/v1/deliveries?state=waiting", "/v1/webhooks/" + webhook + "/deliveries",
			} {
				if diff := cmp.Diff(want, append([]string{}, s.as(key).walk(schema.Live, path)...)); diff != "" {
					t.Errorf("%s with %s (-want +got):\n%s", path, name, diff)
				}
			}
			for _, d := range []delivery.Row{paid, quota} {
				r := s.as(key).liveRequest("GET", "/v1/deliveries/"+d.ID, "")
				if slices.Contains(want, d.ID) {
					read[deliveryapi.Reply](t, r, 200)
				} else {
					r.refused(t, name, 403, schema.InsufficientScope, "", "scope")
				}
				ofEvent := s.as(key).walk(schema.Live, "/v1/deliveries?event_id="+d.EventID)
				if slices.Contains(want, d.ID) != (len(ofEvent) == 1) {
					t.Errorf("the deliveries of one event with %s: %v", name, ofEvent)
				}
			}
		}
	})
}

// narrow creates a live key of the account with some scopes.
func (s *apiFixture) narrow(scopes ...schema.Scope) (key string) {
	s.t.Helper()
	key = accesstest.AddKey(s.t, s.DB, s.tenant.In(schema.Live), scopes...)
	if err := s.access.Refresh(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return key
}

// as returns the fixture with another live key.
func (s *apiFixture) as(key string) *apiFixture {
	out := &apiFixture{Service: s.Service, t: s.t, client: s.client, tenant: s.tenant}
	out.tenant.Keys[schema.Live] = key
	return out
}

func TestASecondRetryIsAConflict(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		d := s.finished(schema.Live, s.webhook(schema.Live, 1), 500)
		path := "/v1/deliveries/" + d.ID + "/retry"
		made := read[schema.DeliveriesRetried](t, s.liveRequest("POST", path, ""), 202)
		s.clock.Advance(time.Second)
		s.liveRequest("POST", path, "").refused(t, "again", 409, schema.Conflict, "id", made.IDs[0])
		s.liveRequest("POST", "/v1/deliveries/retry", `{"delivery_ids":["`+d.ID+`"]}`).refused(t, "among others", 409, schema.Conflict, "delivery_ids.0", made.IDs[0])
	})
}
