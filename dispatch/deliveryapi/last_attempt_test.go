package deliveryapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// All deliveries of one event are one list: those to several webhooks, and manual
// retries.
func TestListDeliveriesOfAnEvent(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		first, second := s.webhook(schema.Live, 1), s.webhook(schema.Live, 2)
		failed := s.finished(schema.Live, first, http.StatusInternalServerError)
		s.finished(schema.Live, first, http.StatusOK) // of another event
		s.clock.Advance(time.Second)
		e := s.addEvent(schema.Live, "evt_01KAHR3M5Q7S9V1X3Z5B7D9000")
		sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET event_id = $1 WHERE id = $2", e.ID, failed.ID)
		beside := s.insert(e, second)
		s.clock.Advance(time.Second)
		again := read[schema.DeliveriesRetried](t, s.liveRequest("POST", "/v1/deliveries/"+failed.ID+"/retry", ""), 202).IDs[0]
		for query, want := range map[string][]string{
			"":                                  {again, beside.ID, failed.ID},
			"&limit=1":                          {again, beside.ID, failed.ID},
			"&state=failed":                     {failed.ID},
			"&state=waiting":                    {again, beside.ID},
			"&webhook_id=" + first:              {again, failed.ID},
			"&state=failed&webhook_id=" + first: {failed.ID},
			"&state=failed&retried=false":       nil,
			"&retried=true&webhook_id=" + first: {failed.ID},
			"&webhook_id=" + second:             {beside.ID},
		} {
			if diff := cmp.Diff(want, s.walk(schema.Live, "/v1/deliveries?event_id="+e.ID+query)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", query, diff)
			}
		}
		if got := s.walk(schema.Sandbox, "/v1/deliveries?event_id="+e.ID); got != nil {
			t.Errorf("the sandbox sees %v", got)
		}
	})
}

func TestListsShowLastAttempt(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		webhook := s.webhook(schema.Live, 1)
		r := s.delivery(schema.Live, webhook)
		last := func(query string) *schema.LastAttempt {
			t.Helper()
			list := read[schema.List[schema.Delivery]](t, s.liveRequest("GET", "/v1/deliveries?"+query, ""), 200)
			if len(list.Data) != 1 {
				t.Fatalf("%s: %d deliveries", query, len(list.Data))
			}
			return list.Data[0].LastAttempt
		}
		if got := last("state=waiting"); got != nil {
			t.Errorf("before the first attempt there is %+v", got)
		}
		for n, stage := range []schema.Stage{schema.StageDNS, schema.StageConnect} {
			result := s.answer(0)
			result.Stage, result.Error, result.Body = stage, fmt.Sprintf("no <%s>", stage), nil
			s.attempt(&r, result)
			sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET token = 'token'")
			want := &schema.LastAttempt{Number: n + 1, At: "2026-11-21T06:00:00.123Z", DurationMS: 12.345, Stage: stage, Error: fmt.Sprintf("no <%s>", stage)}
			if diff := cmp.Diff(want, last("webhook_id="+webhook)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
		s.attempt(&r, s.answer(http.StatusNoContent))
		switch got := last("state=delivered"); {
		case got == nil:
			t.Error("got is nil")
		case got.Number != 3:
			t.Errorf("Number = %v, want 3", got.Number)
		case *got.HTTPStatus != http.StatusNoContent:
			t.Errorf("*HTTPStatus = %v, want %v", *got.HTTPStatus, http.StatusNoContent)
		case got.Error != "":
			t.Errorf("Error = %q, want none", got.Error)
		}
	})
}

// A list is read to its end in pages of a thousand, which is the most.
func TestPagesOfAThousandDeliveries(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		webhook := s.webhook(schema.Live, 1)
		s.many(webhook, 2_500, 1)
		for _, path := range []string{"/v1/deliveries?limit=1000&state=failed", "/v1/webhooks/" + webhook + "/deliveries?limit=1000"} {
			got := s.walk(schema.Live, path)
			if len(got) != 2_500 || got[0] != rowID(2_499) || got[2_499] != rowID(0) {
				t.Errorf("%s has %d", path, len(got))
			}
		}
		text := s.liveRequest("GET", "/v1/deliveries?limit=1000", "").Text
		if n := strings.Count(text, `"last_attempt":{"attempt":1,`); n != 1000 {
			t.Errorf("%d of a thousand show their last attempt", n)
		}
	})
}

// many stores failed deliveries of one event, one second apart up to the current time.
// Each has the given number of attempts that were answered with 500.
func (s *apiFixture) many(webhook string, n, attempts int) {
	s.t.Helper()
	e := s.addEvent(schema.Live, "evt_01KAHR3M5Q7S9V1X3Z5B7D0001")
	sqlstoretest.Exec(s.t, s.DB, `INSERT INTO delivery (id, event_id, webhook_id, account_id, mode, retry_of, due_at, token, created_at, state, attempts, finished_at, retried_as)
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $1)
		SELECT 'dlv_0000000000000000' || CAST(1000000000 + i AS TEXT), $2, $3, $4, 'live', 'dlv_1000000000000000' || CAST(1000000000 + i AS TEXT), 1, '',
			CAST($5 AS BIGINT) + CAST(1000000 AS BIGINT) * (i + 1), 'failed', $6, 1, '' FROM n`, n, e.ID, webhook, s.tenant.ID, s.Now().Add(-time.Duration(n)*time.Second).UnixMicro(), attempts)
	sqlstoretest.Exec(s.t, s.DB, `INSERT INTO attempt (delivery_id, number, at, duration, stage, http_status, error, body, recorded_at)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2)
		SELECT id, n.i, created_at, 1000 * n.i, 'status', 500, 'the answer was 500', $1, created_at FROM delivery CROSS JOIN n`, []byte{}, attempts)
}
