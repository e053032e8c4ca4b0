package delivery

import (
	"fmt"
	"time"

	"vayu/internal/sqlstore"
)

// Lane is a subscription with deliveries that wait.
type Lane struct {
	Webhook string
	Next    time.Time // when the first is due, or the first lease ends
}

// selectLanes jumps along delivery_due from one subscription to the next: DISTINCT
// would read every waiting row.
const selectLanes = `WITH RECURSIVE lane (webhook_id) AS (
		SELECT min(webhook_id) FROM delivery WHERE state = 'waiting'
		UNION ALL
		SELECT (SELECT min(d.webhook_id) FROM delivery d WHERE d.state = 'waiting' AND d.webhook_id > lane.webhook_id)
		FROM lane WHERE lane.webhook_id IS NOT NULL
	)
	SELECT lane.webhook_id, (SELECT min(d.due_at) FROM delivery d WHERE d.state = 'waiting' AND d.webhook_id = lane.webhook_id)
	FROM lane WHERE lane.webhook_id IS NOT NULL`

// Lanes lists the subscriptions that have something waiting, paused and deleted
// ones too. It costs a step for each of them, however much waits.
func Lanes(q sqlstore.Querier) ([]Lane, error) {
	all, err := sqlstore.All(q, func(row sqlstore.Scanner) (l Lane, err error) {
		var due int64
		err = row.Scan(&l.Webhook, &due)
		l.Next = time.UnixMicro(due).UTC()
		return l, err
	}, selectLanes)
	if err != nil {
		return nil, fmt.Errorf("listing what waits: %w", err)
	}
	return all, nil
}
