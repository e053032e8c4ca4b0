package deliveryapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/delivery"
	"vayu/dispatch/deliveryapi"
	"vayu/dispatch/sender"
	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

func TestDeliveriesAreListed(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		first, second, sandbox := s.webhook(schema.Live, 1), s.webhook(schema.Live, 2), s.webhook(schema.Sandbox, 3)
		other := accesstest.AddTenant(t, s.DB, "other").ID
		s.addWebhook(other, schema.Live, "wh_01KAHR3M5Q7S9V1X3Z5B7D9999")
		var all, failed, delivered, ofFirst []string
		events := map[string]string{}
		for i := range 12 {
			s.clock.Advance(time.Hour)
			webhook := []string{first, second}[i%2]
			r := s.delivery(schema.Live, webhook)
			switch i % 3 {
			case 0:
				sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET attempts = 7 WHERE id = $1", r.ID)
				r.Attempts = 7
				s.attempt(&r, s.answer(500))
				failed = append(failed, r.ID)
			case 1:
				s.attempt(&r, s.answer(200))
				delivered = append(delivered, r.ID)
			}
			all, events[r.ID] = append(all, r.ID), r.EventID
			if webhook == first {
				ofFirst = append(ofFirst, r.ID)
			}
		}
		mine := s.delivery(schema.Sandbox, sandbox)
		for _, list := range [][]string{all, failed, delivered, ofFirst} {
			slices.Reverse(list)
		}
		sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET retried_as = $1 WHERE id IN ($2, $3)", all[0], failed[2], failed[3])
		both := slices.DeleteFunc(slices.Clone(failed), func(id string) bool { return !slices.Contains(ofFirst, id) })
		at := func(hours int) string { return start.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339Nano) }
		for path, want := range map[string][]string{
			"/v1/deliveries":                                                       all,
			"/v1/deliveries?limit=5":                                               all,
			"/v1/deliveries?state=failed&limit=2":                                  failed,
			"/v1/deliveries?type=payment.succeeded&limit=5":                        all,
			"/v1/deliveries?type=payment.succeeded&state=failed":                   failed,
			"/v1/deliveries?type=payment.failed":                                   nil,
			"/v1/webhooks/" + first + "/deliveries?type=payment.succeeded":         ofFirst,
			"/v1/deliveries?state=cancelled":                                       nil,
			"/v1/deliveries?status_class=5xx&limit=2":                              failed,
			"/v1/deliveries?status_class=5xx&state=failed&retried=false":           failed[:2],
			"/v1/deliveries?status_class=5xx&state=waiting":                        nil,
			"/v1/deliveries?status_class=4xx":                                      nil,
			"/v1/deliveries?status_class=none":                                     nil,
			"/v1/deliveries?status_class=2xx":                                      delivered,
			"/v1/deliveries?status_class=2xx&state=delivered&limit=1":              delivered,
			"/v1/deliveries?status_class=5xx&event_id=" + events[failed[1]]:        failed[1:2],
			"/v1/deliveries?status_class=2xx&event_id=" + events[failed[1]]:        nil,
			"/v1/webhooks/" + first + "/deliveries?status_class=5xx&limit=1":       both,
			"/v1/webhooks/" + first + "/deliveries?status_class=3xx":               nil,
			"/v1/deliveries?state=failed&retried=false":                            failed[:2],
			"/v1/deliveries?state=failed&retried=true&limit=1":                     failed[2:],
			"/v1/deliveries?retried=true":                                          failed[2:],
			"/v1/deliveries?retried=true&webhook_id=" + second:                     failed[2:3],
			"/v1/deliveries?webhook_id=" + first:                                   ofFirst,
			"/v1/deliveries?state=failed&webhook_id=" + first:                      both,
			"/v1/deliveries?webhook_id=" + sandbox:                                 nil,
			"/v1/deliveries?webhook_id=wh_%00":                                     nil,
			"/v1/deliveries?event_id=" + mine.EventID:                              nil,
			"/v1/deliveries?event_id=" + events[all[3]]:                            all[3:4],
			"/v1/deliveries?webhook_id=wh_01KAHR3M5Q7S9V1X3Z5B7D9999":              nil,
			"/v1/deliveries?from=" + at(3) + "&to=" + at(6):                        all[7:10],
			"/v1/deliveries?limit=2&from=" + at(3):                                 all[:10],
			"/v1/deliveries?to=" + at(3):                                           all[10:],
			"/v1/deliveries?from=2026-11-22":                                       nil,
			"/v1/deliveries?from=1960-01-01&to=9999-12-31":                         all,
			"/v1/webhooks/" + first + "/deliveries?limit=4":                        ofFirst,
			"/v1/webhooks/" + first + "/deliveries?state=failed":                   both,
			"/v1/webhooks/" + first + "/deliveries?event_id=" + events[ofFirst[2]]: ofFirst[2:3],
		} {
			if diff := cmp.Diff(append([]string{}, want...), append([]string{}, s.walk(schema.Live, path)...)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		}
		if got := s.walk(schema.Sandbox, "/v1/deliveries"); !slices.Equal(got, []string{mine.ID}) {
			t.Errorf("the sandbox has %v", got)
		}
		for path, field := range map[string]string{
			"?state=lost": "state", "?retried=yes": "retried", "?status_class=2": "status_class", "?status_class=": "status_class", "?limit=0": "limit", "?from=now": "from", "?from=2026-11-22&to=2026-11-20": "from", "?cursor=x": "cursor", "?webhook=1": "webhook",
		} {
			s.liveRequest("GET", "/v1/deliveries"+path, "").refused(t, path, 400, schema.InvalidRequest, field, "")
		}
		list := read[schema.List[schema.Delivery]](t, s.liveRequest("GET", "/v1/deliveries?limit=1", ""), 200)
		s.liveRequest("GET", "/v1/deliveries?state=failed&cursor="+*list.NextCursor, "").refused(t, "another list's cursor", 400, schema.InvalidRequest, "cursor", "")
		s.liveRequest("GET", "/v1/deliveries?type=payment.succeeded&cursor="+*list.NextCursor, "").refused(t, "a list of all types", 400, schema.InvalidRequest, "cursor", "")
		s.liveRequest("GET", "/v1/deliveries?status_class=5xx&cursor="+*list.NextCursor, "").refused(t, "a list of all classes", 400, schema.InvalidRequest, "cursor", "")
		s.liveRequest("GET", "/v1/deliveries?type=payment.done", "").refused(t, "a type", 422, schema.UnknownEventType, "type", "")
		s.liveRequest("GET", "/v1/webhooks/"+first+"/deliveries?webhook_id="+second, "").refused(t, "two webhooks", 400, schema.InvalidRequest, "webhook_id", "")
		for _, id := range []string{sandbox, "wh_01KAHR3M5Q7S9V1X3Z5B7D9999", "wh_none", "%00", strings.Repeat("w", 300)} {
			s.liveRequest("GET", "/v1/webhooks/"+id+"/deliveries", "").refused(t, id, 404, schema.NotFound, "id", "webhook")
		}
	})
}

func TestADeliveryIsShownWithItsAttempts(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		webhook := s.webhook(schema.Live, 1)
		r := s.delivery(schema.Live, webhook)
		shown := func() deliveryapi.Detail {
			t.Helper()
			return read[deliveryapi.Reply](t, s.liveRequest("GET", "/v1/deliveries/"+r.ID, ""), 200).Data
		}
		want := deliveryapi.Detail{URL: "https://receiver.example/" + webhook, Attempts: []deliveryapi.Attempt{}, Delivery: schema.Delivery{
			ID: r.ID, WebhookID: webhook, EventID: r.EventID, EventType: schema.EventPaymentSucceeded, State: schema.DeliveryWaiting, CreatedAt: "2026-11-21T06:00:00.123Z",
		}}
		if diff := cmp.Diff(want, shown()); diff != "" {
			t.Errorf("while it is leased (-want +got):\n%s", diff)
		}
		result := s.answer(502)
		result.Body = []byte("caf\xe9 \xff\xfe!\x00")
		result.Signature, result.Header = "t=1,v1=ab", "Server: \x00\xff\nX-Empty: \n"+sender.Cut
		s.attempt(&r, result)
		next := "2026-11-21T06:00:10.123Z"
		status := 502
		want.Made, want.NextAttemptAt = 1, &next
		want.Attempts = []deliveryapi.Attempt{{
			Number: 1, At: "2026-11-21T06:00:00.123Z", DurationMS: 12.345, Stage: schema.StageStatus, HTTPStatus: &status, Error: "the answer was 502", Body: "caf\uFFFD \uFFFD!\x00",
			Sent: []deliveryapi.Header{
				{Name: "Content-Type", Value: "application/json"}, {Name: "User-Agent", Value: "Vayu-Webhooks/1"}, {Name: "X-SERVICE-Attempt", Value: "1"},
				{Name: "X-SERVICE-Delivery-Id", Value: r.ID}, {Name: "X-SERVICE-Event-Id", Value: r.EventID}, {Name: "X-SERVICE-Signature", Value: "t=1,v1=ab"},
			},
			Received: []deliveryapi.Header{{Name: "Server", Value: "\uFFFD\uFFFD"}, {Name: "X-Empty"}}, ReceivedCut: true,
		}}
		want.LastAttempt = &schema.LastAttempt{Number: 1, At: "2026-11-21T06:00:00.123Z", DurationMS: 12.345, Stage: schema.StageStatus, HTTPStatus: &status, Error: "the answer was 502"}
		if diff := cmp.Diff(want, shown()); diff != "" {
			t.Errorf("after an attempt (-want +got):\n%s", diff)
		}
		s.clock.Advance(10 * time.Second)
		var again delivery.Row
		sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error {
			claimed, err := delivery.Claim(tx, []delivery.LaneClaim{{Webhook: webhook, Limit: 1}}, s.lease("two"), s.Now())
			if err == nil {
				again = claimed[0].Rows[0]
			}
			return err
		})
		if got := shown(); got.NextAttemptAt != nil {
			t.Errorf("while an attempt is under way the next is at %s", *got.NextAttemptAt)
		}
		s.clock.Advance(time.Minute) // the lease expires
		late := s.Now().Format("2006-01-02T15:04:05.000Z")
		if got := shown(); got.NextAttemptAt == nil || *got.NextAttemptAt != late {
			t.Errorf("after a lease the next is at %v, want %s", got.NextAttemptAt, late)
		}
		result = s.answer(0)
		result.Stage, result.Error, result.Body = schema.StageConnect, "connection refused", nil
		s.record(delivery.Outcome{Row: &again, Token: "two", Result: result, Transition: delivery.Transition{State: schema.DeliveryFailed}})
		got := shown()
		switch {
		case got.State != schema.DeliveryFailed:
			t.Errorf("State = %v, want %v", got.State, schema.DeliveryFailed)
		case *got.FinishedAt != late:
			t.Errorf("*FinishedAt = %v, want %v", *got.FinishedAt, late)
		case got.NextAttemptAt != nil:
			t.Errorf("NextAttemptAt = %v, want nil", got.NextAttemptAt)
		case len(got.Attempts) != 2:
			t.Errorf("len(Attempts) = %v, want 2", len(got.Attempts))
		case got.Attempts[1].HTTPStatus != nil:
			t.Errorf("Attempts[1].HTTPStatus = %v, want nil", got.Attempts[1].HTTPStatus)
		case got.Attempts[1].Number != 2:
			t.Errorf("Attempts[1].Number = %v, want 2", got.Attempts[1].Number)
		}
		s.do(schema.Sandbox, "GET", "/v1/deliveries/"+r.ID, "").refused(t, "from the sandbox", 404, schema.NotFound, "", "delivery")
		for _, id := range []string{"dlv_none", "%00", strings.Repeat("d", 300)} {
			s.liveRequest("GET", "/v1/deliveries/"+id, "").refused(t, id, 404, schema.NotFound, "", "delivery")
		}
		s.liveRequest("GET", "/v1/deliveries/"+r.ID+"?x=1", "").refused(t, "a parameter", 400, schema.InvalidRequest, "x", "")
	})
}

// The search for a rare state is bounded, so that no list blocks the store.
func TestRareStateIsScannedInPages(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		webhook := s.webhook(schema.Live, 1)
		s.addEvent(schema.Live, "evt_01KAHR3M5Q7S9V1X3Z5B7D0001")
		const rows = 2*deliveryapi.ScanMost + 10
		sqlstoretest.Exec(t, s.DB, `INSERT INTO delivery (id, event_id, webhook_id, account_id, mode, retry_of, due_at, token, created_at, state, attempts, finished_at, retried_as)
			WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $1)
			SELECT 'dlv_0000000000000000' || CAST(1000000000 + i AS TEXT), 'evt_01KAHR3M5Q7S9V1X3Z5B7D0001', $2, $3, 'live', CAST(i AS TEXT), $4, '', $4, 'failed', 1, NULL, 'dlv' FROM n`,
			rows, webhook, s.tenant.ID, s.Now().UnixMicro())
		for i, state := range []string{"cancelled", "waiting", "delivered"} { // the oldest
			sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET state = $2, retry_of = '', retried_as = '', event_id = $3 WHERE id = $1", rowID(i), state,
				s.addEvent(schema.Live, "evt_01KAHR3M5Q7S9V1X3Z5B7D000"+string('2'+rune(i))).ID)
		}
		sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET retried_as = '', retry_of = '' WHERE id = $1", rowID(5))
		s.reads("/v1/deliveries?state=failed&retried=false", rowID(5)) // which has an index
		s.reads("/v1/webhooks/"+webhook+"/deliveries?state=failed&retried=false", rowID(5))
		for i, state := range []string{"cancelled", "waiting", "delivered"} {
			s.reads("/v1/deliveries?state="+state, "", "", rowID(i))
			s.reads("/v1/deliveries?webhook_id="+webhook+"&state="+state, "", "", rowID(i))
			s.reads("/v1/deliveries?retried=false&state="+state, "", "", rowID(i))
			s.reads("/v1/deliveries?retried=true&state="+state, "", "", "")
		}
		s.reads("/v1/deliveries?retried=false&limit=3", "", "", rowID(5)+" "+rowID(2)+" "+rowID(1), rowID(0))
	})
}

// rowID returns the id of the nth oldest row.
func rowID(n int) string { return fmt.Sprintf("dlv_0000000000000000%d", 1_000_000_000+n) }

// reads checks that a list has pages with exactly these ids.
func (s *apiFixture) reads(path string, pages ...string) {
	s.t.Helper()
	var got []string
	for next := ""; ; {
		list := read[schema.List[schema.Delivery]](s.t, s.liveRequest("GET", path+next, ""), 200)
		var ids []string
		for _, d := range list.Data {
			ids = append(ids, d.ID)
		}
		got = append(got, strings.Join(ids, " "))
		if list.HasMore != (list.NextCursor != nil) {
			s.t.Errorf("%s: there is more: %v, with the cursor %v", path, list.HasMore, list.NextCursor)
		}
		if list.NextCursor == nil {
			break
		}
		mark := "?"
		if strings.Contains(path, "?") {
			mark = "&"
		}
		next = mark + "cursor=" + *list.NextCursor
	}
	if diff := cmp.Diff(pages, got); diff != "" {
		s.t.Errorf("pages of %s (-want +got):\n%s", path, diff)
	}
}
