package deliveryapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/deliveryapi"
	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// listed returns a list in JSON.
func listed(all ...string) string { return `["` + strings.Join(all, `","`) + `"]` }

func TestRetryByIDs(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		first, second := s.webhook(schema.Live, 1), s.webhook(schema.Live, 2)
		a, b := s.finished(schema.Live, first, http.StatusInternalServerError).ID, s.finished(schema.Live, second, http.StatusOK).ID
		left, waiting := s.finished(schema.Live, first, http.StatusInternalServerError).ID, s.delivery(schema.Live, first).ID
		sandbox := s.finished(schema.Sandbox, s.webhook(schema.Sandbox, 3), http.StatusInternalServerError).ID
		const path = "/v1/deliveries/retry"
		body := `{"delivery_ids":` + listed(b, a) + `}`
		done := s.do(schema.Live, "POST", path, body, "Idempotency-Key", "some")
		got := read[schema.DeliveriesRetried](t, done, 202)
		var olds []string
		for _, id := range got.IDs {
			olds = append(olds, sqlstoretest.Value[string](t, s.DB, "SELECT retry_of FROM delivery WHERE id = $1", id))
		}
		if got.Retried != 2 || got.HasMore || !slices.Equal(olds, []string{b, a}) {
			t.Errorf("got %+v of %v, want those of %s and %s", got, olds, b, a)
		}
		if again := s.do(schema.Live, "POST", path, body, "Idempotency-Key", "some"); again.Text != done.Text {
			t.Errorf("the same call brought %s, then %s", done.Text, again.Text)
		}
		if woken := slices.Sorted(slices.Values(s.woken)); !slices.Equal(woken, []string{first, second}) {
			t.Errorf("woken were %v", woken)
		}
		for what, c := range map[string]struct {
			ids    []string
			status int
			code   schema.Code
			field  string
		}{
			"one that waits":       {[]string{left, waiting}, 400, schema.InvalidRequest, "delivery_ids.1"},
			"one that was retried": {[]string{a, left}, 409, schema.Conflict, "delivery_ids.0"},
			"the other world's":    {[]string{left, sandbox}, 404, schema.NotFound, "delivery_ids.1"},
			"none":                 {[]string{"dlv_none"}, 404, schema.NotFound, "delivery_ids.0"},
			"no id":                {[]string{left, `\u0000`}, 404, schema.NotFound, "delivery_ids.1"},
			"twice":                {[]string{left, left}, 400, schema.InvalidRequest, "delivery_ids"},
			"too many":             {make([]string, 1001), 400, schema.InvalidRequest, "delivery_ids"},
		} {
			s.liveRequest("POST", path, `{"delivery_ids":`+listed(c.ids...)+`}`).refused(t, what, c.status, c.code, c.field, "")
		}
		for body, want := range map[string]struct {
			code  schema.Code
			field string
		}{
			`{"delivery_ids":[]}`: {schema.InvalidRequest, "delivery_ids"}, `{"delivery_ids":[1]}`: {schema.InvalidRequest, "delivery_ids.0"}, `{"all":"yes"}`: {schema.InvalidRequest, "all"},
			`{"delivery_ids":["x"],"all":true}`: {schema.ConflictingParameters, "all"}, `{"delivery_ids":["x"],"webhook_id":"wh_1"}`: {schema.ConflictingParameters, "webhook_id"},
			`{"delivery_ids":["x"],"from":"2026-11-21"}`: {schema.ConflictingParameters, "from"}, `{"all":true,"webhook_id":"wh_1"}`: {schema.ConflictingParameters, "all"},
			`{"all":true,"to":"x"}`: {schema.InvalidRequest, "to"}, `{"from":"2026-11-21"}`: {schema.InvalidRequest, "webhook_id"}, `{"all":false}`: {schema.InvalidRequest, "webhook_id"},
		} {
			s.liveRequest("POST", path, body).refused(t, body, 400, want.code, want.field, "")
		}
		if n := sqlstoretest.Value[int](t, s.DB, "SELECT count(*) FROM delivery WHERE retry_of <> ''"); n != 2 {
			t.Errorf("%d were made, want 2: a call that was refused made some", n)
		}
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET deleted_at = 1 WHERE id = $1", first)
		s.liveRequest("POST", path, `{"delivery_ids":`+listed(left)+`}`).refused(t, "a deleted webhook's", 400, schema.InvalidRequest, "delivery_ids.0", "deleted")
	})
}

func TestRetryAllOfAnAccount(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		first, second, gone := s.webhook(schema.Live, 1), s.webhook(schema.Live, 2), s.webhook(schema.Live, 3)
		var want []string
		for _, webhook := range []string{first, second, gone, first} {
			s.clock.Advance(24 * 3600e9)
			if id := s.finished(schema.Live, webhook, http.StatusInternalServerError).ID; webhook != gone {
				want = append(want, id)
			}
			s.finished(schema.Live, webhook, http.StatusOK)
		}
		s.finished(schema.Sandbox, s.webhook(schema.Sandbox, 4), http.StatusInternalServerError)
		alien := s.finished(schema.Live, first, http.StatusInternalServerError).ID
		other := accesstest.AddTenant(t, s.DB, "other").ID
		sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET account_id = $1 WHERE id = $2", other, alien)
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET deleted_at = 1 WHERE id = $1", gone)
		for _, step := range []struct {
			body string
			want []string
		}{{`{"all":true,"to":"2026-11-22"}`, want[:1]}, {`{"all":true}`, want[1:]}, {`{"all":true}`, nil}} {
			var olds []string
			for _, id := range read[schema.DeliveriesRetried](t, s.liveRequest("POST", "/v1/deliveries/retry", step.body), 202).IDs {
				olds = append(olds, sqlstoretest.Value[string](t, s.DB, "SELECT retry_of FROM delivery WHERE id = $1", id))
			}
			if diff := cmp.Diff(step.want, olds); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.body, diff)
			}
		}
	})
}

// One call retries a thousand deliveries by their ids, and ten calls retry the rest of
// ten thousand.
func TestRetryTenThousand(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		s.many(s.webhook(schema.Live, 1), 10_000, 1)
		var some []string
		for i := range 1000 {
			some = append(some, rowID(9*i))
		}
		got := read[schema.DeliveriesRetried](t, s.liveRequest("POST", "/v1/deliveries/retry", `{"delivery_ids":`+listed(some...)+`}`), 202)
		for i := 0; i < 20 && (i == 0 || got.HasMore); i++ {
			next := read[schema.DeliveriesRetried](t, s.liveRequest("POST", "/v1/deliveries/retry", `{"all":true}`), 202)
			got.Retried, got.HasMore = got.Retried+next.Retried, next.HasMore
		}
		if n := sqlstoretest.Value[int](t, s.DB, "SELECT count(*) FROM delivery WHERE state = 'waiting'"); got.Retried != 10_000 || got.HasMore || n != 10_000 {
			t.Errorf("%d were retried, of which %d wait; more: %v", got.Retried, n, got.HasMore)
		}
	})
}

func TestRetriesUseIndexes(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		insertSpread(t, db)
		sqlstoretest.Exec(t, db, "ANALYZE")
		for webhook, index := range map[string]string{"": "delivery_retriable", "wh_000000000000000001000000001": "delivery_retriable_webhook"} {
			text, args := deliveryapi.RetriableQuery(webhook)
			if got := sqlstoretest.Plan(t, db, text, args...); !strings.Contains(got, index+" ") {
				t.Errorf("%s does not use %s:\n%s", fmt.Sprintf("%.40s", text), index, got)
			}
		}
	})
}
