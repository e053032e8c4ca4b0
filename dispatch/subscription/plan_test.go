package subscription

import (
	"strings"
	"testing"

	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// Deleted subscriptions stay until their deliveries are over, and cost neither a
// list nor a new one anything: an index without them is read, and nothing else.
func TestDeletedWebhooksAreNotScanned(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a tenant) {
		mine := func(int) schema.Owner { return a.of(schema.Live) }
		seed(t, s.DB, 20_000, mine, "quota.warning")
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET deleted_at = created_at")
		seed(t, s.DB, 100, mine, "quota.warning")
		// As a vacuum leaves it: whether PostgreSQL takes an index whose pages are
		// mostly dead depends on how many there are.
		reindex := "REINDEX webhook_account"
		if s.DB.Name() == "postgres" {
			reindex = "REINDEX INDEX webhook_account"
		}
		sqlstoretest.Exec(t, s.DB, reindex)
		sqlstoretest.Exec(t, s.DB, "ANALYZE")
		for what, got := range map[string]string{
			"counting": sqlstoretest.Plan(t, s.DB, countThere, a.id, "live"),
			"listing":  sqlstoretest.Plan(t, s.DB, selectList, a.id, "live", "", 100),
		} {
			if !strings.Contains(got, "webhook_account ") || strings.Contains(got, "TEMP B-TREE") {
				t.Errorf("%s does not use its index:\n%s", what, got)
			}
		}
		indexed := "SELECT sql FROM sqlite_master WHERE name = 'webhook_account'"
		if s.DB.Name() == "postgres" {
			indexed = "SELECT indexdef FROM pg_indexes WHERE indexname = 'webhook_account'"
		}
		if got := queryValue[string](t, s.DB, indexed); !strings.Contains(got, "WHERE") {
			t.Errorf("deleted ones are in the index: %s", got)
		}
		s.request(a.keys[schema.Live], "POST", "/v1/webhooks", body("", "")).want(t, "a new one", 201)
	})
}
