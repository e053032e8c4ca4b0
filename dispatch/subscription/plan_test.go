package subscription

import (
	"strings"
	"testing"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// Deleted subscriptions are kept until their deliveries are finished. They slow down
// neither lists nor inserts, because an index without them is used.
func TestDeletedWebhooksAreNotScanned(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		mine := func(int) schema.Owner { return a.In(schema.Live) }
		seed(t, s.DB, 20_000, mine, "quota.warning")
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET deleted_at = created_at")
		seed(t, s.DB, 100, mine, "quota.warning")
		// PostgreSQL may avoid an index whose pages are mostly dead. The rebuild removes these pages, as a
		// vacuum does.
		reindex := "REINDEX webhook_account"
		if s.DB.Name() == "postgres" {
			reindex = "REINDEX INDEX webhook_account"
		}
		sqlstoretest.Exec(t, s.DB, reindex)
		sqlstoretest.Exec(t, s.DB, "ANALYZE")
		for what, got := range map[string]string{
			"counting": sqlstoretest.Plan(t, s.DB, countThere, a.ID, "live"),
			"listing":  sqlstoretest.Plan(t, s.DB, selectList, a.ID, "live", "", 100),
		} {
			if !strings.Contains(got, "webhook_account ") || strings.Contains(got, "TEMP B-TREE") {
				t.Errorf("%s does not use its index:\n%s", what, got)
			}
		}
		indexed := "SELECT sql FROM sqlite_master WHERE name = 'webhook_account'"
		if s.DB.Name() == "postgres" {
			indexed = "SELECT indexdef FROM pg_indexes WHERE indexname = 'webhook_account'"
		}
		if got := sqlstoretest.Value[string](t, s.DB, indexed); !strings.Contains(got, "WHERE") {
			t.Errorf("deleted ones are in the index: %s", got)
		}
		s.request(a.Keys[schema.Live], "POST", "/v1/webhooks", body("", "")).Want(t, "a new one", 201)
	})
}
