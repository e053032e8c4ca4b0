package delivery

import (
	"fmt"
	"strings"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// recordOutcomes updates waiting deliveries after attempts. If the lease was lost, it records only an acknowledgement:
// the receiver has the event, so no instance should send it again.
var recordOutcomes = sqlstore.NewBatchStatement(0, `UPDATE delivery SET state = v.column3, attempts = attempts + 1, due_at = v.column4, token = '', finished_at = v.column5,
	status_class = v.column6 FROM (VALUES `, "(?, ?, ?, CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT))", `) AS v
	WHERE delivery.id = v.column1 AND delivery.state = 'waiting' AND (delivery.token = v.column2 OR v.column3 = 'delivered')
	RETURNING delivery.id, delivery.attempts`)

var insertAttempt = sqlstore.NewBatchStatement(0, "INSERT INTO attempt (delivery_id, number, at, duration, stage, http_status, error, body, recorded_at, signature, header) VALUES ",
	"(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "")

// Record stores attempts and updates their deliveries, in one transaction. It drops stale outcomes and returns their
// number. An outcome is stale if the delivery has finished or its lease was lost. There is one exception: an
// acknowledgement counts even after a lost lease if the delivery is still waiting. So the event is not sent again.
func Record(tx *sqlstore.Tx, outcomes []Outcome, now time.Time) (stale int, err error) {
	for len(outcomes) > 0 {
		round, rest := distinct(outcomes)
		n, err := record(tx, round, now)
		if err != nil {
			return 0, fmt.Errorf("storing %d outcomes: %w", len(round), err)
		}
		stale += len(round) - n
		outcomes = rest
	}
	return stale, nil
}

// distinct splits outcomes into the first outcome of each delivery and the rest, because one statement can update a row
// only once.
func distinct(outcomes []Outcome) (first, rest []Outcome) {
	seen := make(map[string]struct{}, len(outcomes))
	for i, o := range outcomes {
		if _, again := seen[o.Row.ID]; again {
			if rest == nil {
				first = append([]Outcome(nil), outcomes[:i]...)
			}
			rest = append(rest, o)
			continue
		}
		seen[o.Row.ID] = struct{}{}
		if rest != nil {
			first = append(first, o)
		}
	}
	if rest == nil {
		return outcomes, nil
	}
	return first, rest
}

// record stores outcomes, at most one for each delivery, and returns the number of those that were not stale.
func record(tx *sqlstore.Tx, outcomes []Outcome, now time.Time) (n int, err error) {
	numbers := make(map[string]int64, len(outcomes))
	err = recordOutcomes.Each(len(outcomes), func(text string, from, to int) error {
		args := make([]any, 0, 6*(to-from))
		for i := range outcomes[from:to] {
			o := &outcomes[from+i]
			var finished any
			due := o.DueAt.UnixMicro()
			if o.State != schema.DeliveryWaiting {
				finished, due = now.UnixMicro(), now.UnixMicro()
			}
			args = append(args, o.Row.ID, o.Token, string(o.State), due, finished, o.Result.Status/100)
		}
		return sqlstore.Each(tx, func(row sqlstore.Scanner) error {
			var id string
			var number int64
			err := row.Scan(&id, &number)
			numbers[id] = number
			return err
		}, text, args...)
	})
	if err != nil {
		return 0, err
	}
	stored := make([]*Outcome, 0, len(numbers))
	for i := range outcomes {
		if numbers[outcomes[i].Row.ID] > 0 {
			stored = append(stored, &outcomes[i])
		}
	}
	return len(stored), insertAttempts(tx, stored, numbers, now)
}

func insertAttempts(tx *sqlstore.Tx, outcomes []*Outcome, numbers map[string]int64, now time.Time) error {
	recorded := now.UnixMicro()
	return insertAttempt.Each(len(outcomes), func(text string, from, to int) error {
		args := make([]any, 0, 11*(to-from))
		for _, o := range outcomes[from:to] {
			r := &o.Result
			body := r.Body
			if body == nil {
				body = []byte{}
			}
			args = append(args, o.Row.ID, numbers[o.Row.ID], r.SentAt.UnixMicro(), r.Duration.Microseconds(), string(r.Stage),
				r.Status, storable(r.Error), body, recorded, r.Signature, storable(r.Header))
		}
		_, err := tx.Exec(text, args...)
		return err
	})
}

// storable replaces characters that PostgreSQL rejects. A single rejected text would roll back the whole transaction,
// which includes the outcomes of other deliveries.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
