package sqlstore_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// beforeStatusClass is the last version of the tables without delivery.status_class.
const beforeStatusClass = 20

// The class of older deliveries follows from their newest attempt.
func TestMigrationSetsStatusClass(t *testing.T) {
	t.Parallel()
	for name, config := range sqlstoretest.Fresh {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config(t)
			old := c
			old.Version = beforeStatusClass
			db, stop := sqlstoretest.Start(t, old)
			for _, text := range []string{
				"INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ('acc_1', 'a', 'free', '', 0, 1)",
				"INSERT INTO event (id, account_id, mode, type, created_at, envelope) VALUES ('evt_1', 'acc_1', 'live', 'quota.warning', 1, '')",
				`INSERT INTO webhook (id, account_id, mode, url, events, active, api_version, secret, secret_last4, created_at, revision)
					VALUES ('wh_1', 'acc_1', 'live', 'https://receiver.example', '', 1, '', '', '', 1, 1)`,
				`INSERT INTO delivery (id, event_id, webhook_id, account_id, mode, retry_of, due_at, token, created_at, state, attempts, retried_as)
					VALUES ('dlv_1', 'evt_1', 'wh_1', 'acc_1', 'live', '', 1, '', 1, 'waiting', 0, ''),
					('dlv_2', 'evt_1', 'wh_1', 'acc_1', 'live', 'dlv_1', 1, '', 1, 'waiting', 2, ''),
					('dlv_3', 'evt_1', 'wh_1', 'acc_1', 'live', 'dlv_2', 1, '', 1, 'delivered', 2, '')`,
				`INSERT INTO attempt (delivery_id, number, at, duration, stage, http_status, error, body, recorded_at)
					VALUES ('dlv_2', 1, 1, 1, 'status', 404, '', '', 1), ('dlv_2', 2, 1, 1, 'wait', 0, '', '', 1),
					('dlv_3', 1, 1, 1, 'status', 503, '', '', 1), ('dlv_3', 2, 1, 1, 'status', 204, '', '', 1)`,
			} {
				sqlstoretest.Exec(t, db, text)
			}
			stop()
			db = sqlstoretest.Open(t, c)
			got, err := sqlstore.All(db.View(t.Context()), func(row sqlstore.Scanner) (class int64, err error) {
				err = row.Scan(&class)
				return class, err
			}, "SELECT COALESCE(status_class, -1) FROM delivery ORDER BY id")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]int64{-1, 0, 2}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
