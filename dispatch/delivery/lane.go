package delivery

import (
	"fmt"
	"time"

	"vayu/internal/sqlstore"
)

// Lane is a subscription with waiting deliveries.
type Lane struct {
	Webhook string
	Next    time.Time // earliest due time of a waiting delivery; a leased one is due when its lease ends
}

// selectLanes finds each subscription with one lookup in the index delivery_due, starting after the previous
// subscription. DISTINCT would read every waiting row.
const selectLanes = `WITH RECURSIVE lane (webhook_id) AS (
		SELECT min(webhook_id) FROM delivery WHERE state = 'waiting'
		UNION ALL
		SELECT (SELECT min(d.webhook_id) FROM delivery d WHERE d.state = 'waiting' AND d.webhook_id > lane.webhook_id)
		FROM lane WHERE lane.webhook_id IS NOT NULL
	)
	SELECT lane.webhook_id, (SELECT min(d.due_at) FROM delivery d WHERE d.state = 'waiting' AND d.webhook_id = lane.webhook_id)
	FROM lane WHERE lane.webhook_id IS NOT NULL`

// Lanes lists the subscriptions with waiting deliveries, including paused and deleted ones. The cost grows with the
// number of subscriptions, not with the number of deliveries.
func Lanes(q sqlstore.Querier) ([]Lane, error) {
	all, err := sqlstore.All(q, func(row sqlstore.Scanner) (l Lane, err error) {
		var due int64
		err = row.Scan(&l.Webhook, &due)
		l.Next = time.UnixMicro(due).UTC()
		return l, err
	}, selectLanes)
	if err != nil {
		return nil, fmt.Errorf("listing subscriptions with waiting deliveries: %w", err)
	}
	return all, nil
}
