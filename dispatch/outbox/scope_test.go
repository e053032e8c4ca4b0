package outbox

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/internal/sse"
	"vayu/schema"
)

// limitedAccess is an Access whose keys have only some scopes.
type limitedAccess struct {
	httpapitest.Keys

	scopes schema.ScopeSet
}

// Admit implements httpapi.Access.
func (n limitedAccess) Admit(c *httpapi.Call, route *httpapi.Route) (httpapi.Pass, error) {
	pass, err := n.Keys.Admit(c, route)
	c.Scopes = n.scopes
	return pass, err
}

// withScopes returns the fixture with keys that have some scopes beside
// webhooks:manage.
func (c *apiFixture) withScopes(t *testing.T, scopes ...schema.Scope) *apiFixture {
	t.Helper()
	handler, err := httpapi.New(httpapi.Config{Routes: c.Routes(), Access: limitedAccess{keys, schema.SetOf(append(scopes, schema.WebhooksManage)...)}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(httpapitest.Checked(t, handler))
	t.Cleanup(server.Close)
	return &apiFixture{c.outboxFixture, server.URL}
}

func TestEventsNeedTheReadScopeOfTheirType(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, c *apiFixture) {
		c.clock.Set(noon)
		ids := c.appendEvents(schema.Live, len(schema.EventTypes), time.Second, schema.EventTypes...)
		of := map[schema.Scope][]string{} // the scope that the contract gives each type
		for i, kind := range schema.EventTypes {
			switch kind {
			case schema.EventVerificationCompleted, schema.EventVerificationBulkCompleted, schema.EventVerificationFailed:
				of[schema.VerifyRead] = append(of[schema.VerifyRead], ids[i])
			case schema.EventQuotaWarning, schema.EventQuotaExceeded:
				of[schema.AccountRead] = append(of[schema.AccountRead], ids[i])
			case schema.EventSourceDegraded, schema.EventSourceRecovered:
				of[schema.SourcesRead] = append(of[schema.SourcesRead], ids[i])
			case schema.EventAlertTriggered, schema.EventAlertResolved, schema.EventAlertTest:
				of[schema.AlertsManage] = append(of[schema.AlertsManage], ids[i])
			case schema.EventWebhookFailing, schema.EventWebhookRecovered:
				of[schema.WebhooksManage] = append(of[schema.WebhooksManage], ids[i])
			default:
				of[schema.RechargeRead] = append(of[schema.RechargeRead], ids[i])
			}
		}
		for name, scopes := range map[string][]schema.Scope{
			"webhooks:manage alone": {}, "recharge:read": {schema.RechargeRead}, "verify:read": {schema.VerifyRead}, "account:read": {schema.AccountRead},
			"two": {schema.RechargeRead, schema.AccountRead}, "write scopes": {schema.RechargeWrite, schema.VerifyWrite},
			"sources:read": {schema.SourcesRead}, "all of a customer": {schema.RechargeRead, schema.VerifyRead, schema.AccountRead},
			"all": {schema.RechargeRead, schema.VerifyRead, schema.AccountRead, schema.SourcesRead},
		} {
			t.Run(name, func(t *testing.T) {
				n := c.withScopes(t, scopes...)
				want := slices.Clone(of[schema.WebhooksManage]) // every key of this endpoint has the scope
				for _, scope := range scopes {
					want = append(want, of[scope]...)
				}
				slices.Sort(want)
				for _, query := range []string{"", "limit=2", "from=2026-11-01"} {
					if got, _ := n.list(schema.Live, query); !cmp.Equal(got, want) {
						t.Errorf("%q: %s", query, cmp.Diff(want, got))
					}
				}
				for i, kind := range schema.EventTypes {
					status, code := http.StatusOK, schema.Code("")
					if !slices.Contains(want, ids[i]) {
						status, code = http.StatusForbidden, schema.InsufficientScope
					}
					for _, path := range []string{"/v1/events/" + ids[i], "/v1/events?type=" + string(kind)} {
						if r := n.get(schema.Live, path); r.status != status || r.Error.Code != code {
							t.Errorf("%s (%s): got %d %s, want %d %s", path, kind, r.status, r.text, status, code)
						}
					}
				}
				if r := n.get(schema.Sandbox, "/v1/events/"+ids[0]); r.status != http.StatusNotFound {
					t.Errorf("an event of the other world: got %d %s, want 404 whatever the scopes", r.status, r.text)
				}
			})
		}
	})
}

// For a key that may read few types, one request scans a bounded number of events.
func TestEventsOfReadableTypesAreFoundInBoundedSteps(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, c *apiFixture) {
		want := c.appendEvents(schema.Live, 1, 0, schema.EventQuotaExceeded)
		c.appendEvents(schema.Live, scanMost, 0, schema.EventPaymentSucceeded)
		want = append(want, c.appendEvents(schema.Live, 1, 0, schema.EventQuotaExceeded)...)
		got, pages := c.withScopes(t, schema.AccountRead).list(schema.Live, "")
		if pages != 2 || !slices.Equal(got, want) {
			t.Errorf("%d pages, want 2: %s", pages, cmp.Diff(want, got))
		}
	})
}

func TestNoticesOfEventsNeedTheReadScopeOfTheirType(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		before := d.clock.Now()
		d.appendEvent("acc_a") // a payment
		found, err := Feed{d.DB}.Changes(t.Context(), []sse.Query{{Owner: schema.Owner{Account: "acc_a", World: schema.Live}, Since: before}})
		if err != nil || len(found.Notices) != 1 || found.Notices[0].SubjectScope != schema.RechargeRead {
			t.Errorf("got %+v, %v; want one notice that recharge:read is needed for", found.Notices, err)
		}
	})
}
