package delivery

import (
	"fmt"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/schema"
)

// IDPrefix is the prefix of delivery ids.
const IDPrefix = "dlv_"

func newID(now time.Time) string { return IDPrefix + ulid.MustNewDefault(now).String() }

// newIDs returns n ids in ascending order. It sorts them, because the generator is shared: a concurrent call with
// another time can break the order.
func newIDs(now time.Time, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = newID(now)
	}
	slices.Sort(ids)
	return ids
}

// These are the statements of insertNew. selectStored finds out which rows were inserted. It runs only if some rows
// existed before, which is rare. RETURNING would do the same, but would cost time for every row.
var (
	insertDelivery = sqlstore.NewBatchStatement(0, `INSERT INTO delivery (id, event_id, webhook_id, account_id, mode, retry_of, due_at, token, created_at,
		state, attempts, finished_at, retried_as) VALUES `,
		"(?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', 0, NULL, '')",
		" ON CONFLICT (event_id, webhook_id, retry_of) DO NOTHING")
	selectStored = sqlstore.NewBatchStatement(0, "SELECT id FROM delivery WHERE id IN (", "?", ")")
)

type newDelivery struct {
	id, event, webhook, account string
	world                       schema.World
	retryOf                     string // "" for none
	dueAt                       int64
	token                       string // "" for none
}

// Insert stores deliveries of events, and returns those of the new deliveries that have a lease. It is idempotent: it
// neither changes nor returns a delivery that existed before. The only errors are those of the database.
func Insert(tx *sqlstore.Tx, drafts []Draft, lease workqueue.Lease, now time.Time) ([]Row, error) {
	all, ids := make([]newDelivery, len(drafts)), newIDs(now, len(drafts))
	for i, d := range drafts {
		all[i] = newDelivery{
			id: ids[i], event: d.Event.ID, webhook: d.Webhook, account: d.Event.Account, world: d.Event.World,
			dueAt: now.UnixMicro(),
		}
		if d.Lease {
			all[i].dueAt, all[i].token = lease.Until.UnixMicro(), lease.Token
		}
	}
	stored, err := insertNew(tx, all, now)
	if err != nil {
		return nil, err
	}
	var leased []Row
	for i, d := range drafts {
		if d.Lease && stored[i] {
			leased = append(leased, Row{
				ID: all[i].id, Webhook: d.Webhook, EventID: d.Event.ID, Type: d.Event.Type, World: d.Event.World,
				DueAt: time.UnixMicro(now.UnixMicro()).UTC(), Envelope: d.Event.Envelope, Trace: d.Event.Trace, Happened: d.Event.CreatedAt,
			})
		}
	}
	return leased, nil
}

// insertNew stores deliveries and reports for each delivery whether it is new.
func insertNew(tx *sqlstore.Tx, all []newDelivery, now time.Time) (stored []bool, err error) {
	stored = make([]bool, len(all))
	created := now.UnixMicro()
	err = insertDelivery.Each(len(all), func(text string, from, to int) error {
		group := all[from:to]
		args := make([]any, 0, len(group)*9)
		for _, d := range group {
			args = append(args, d.id, d.event, d.webhook, d.account, d.world.String(), d.retryOf, d.dueAt, d.token, created)
		}
		n, err := tx.Exec(text, args...)
		if err != nil {
			return err
		}
		var there map[string]bool
		if n < int64(len(group)) {
			if there, err = sqlstore.ExistingIDs(tx, &selectStored, idsOf(group)); err != nil {
				return err
			}
		}
		for i, d := range group {
			stored[from+i] = there == nil || there[d.id] // no other transaction can have inserted a row with this new id
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("storing %d deliveries: %w", len(all), err)
	}
	return stored, nil
}

func idsOf(group []newDelivery) []string {
	ids := make([]string, len(group))
	for i, d := range group {
		ids[i] = d.id
	}
	return ids
}
