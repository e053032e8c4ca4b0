package quota

import (
	"fmt"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// month is the usage of an account in one month (UTC) in the live world. The sandbox has no quota. Account.mu
// guards its fields, unless stated otherwise.
type month struct {
	account *Account // immutable
	period  string   // such as 2026-11; immutable
	ends    int64    // seconds; immutable
	used    int64
	// allocated is the sum of the field `used` and the reservations of calls in flight.
	allocated int64
	// usedAtMark is, for each mark (80 or 100 per cent), the usage directly after the call that reached the mark. It is
	// 0 if no call of this instance reached the mark.
	usedAtMark [len(marks)]int64
	// stored is the part of `used` that the store already contains. It includes the calls of all instances.
	stored int64
}

// reserve reserves n calls of a quota. If fewer than n calls are left, it reserves none. The result `left` is the
// number of calls that are left. A limit of 0 means no limit; then `left` is 0.
func (m *month) reserve(limit, n int64) (left int64, ok bool) {
	if limit != 0 && m.allocated+n > limit {
		return max(0, limit-m.allocated), false
	}
	m.allocated += n
	return max(0, limit-m.allocated), true
}

// settle ends a reservation, and adds n calls to the usage; n may be 0. If usage reaches a mark (a percentage of
// limit), settle records the usage at that moment.
func (m *month) settle(reserved, n, limit int64) {
	m.allocated += n - reserved
	before := m.used
	m.used += n
	for i := range marks {
		if limit != 0 && marks[i].reached(m.used, limit) && !marks[i].reached(before, limit) {
			m.usedAtMark[i] = m.used
		}
	}
}

// mergeTotal adds the calls that other instances have counted, according to the store's total. The parameter `pushed`
// is the number of calls that this instance has just written; 0 after a read. The caller must exclude concurrent
// flushes. The store's total never decreases, so a total that is not larger than the one merged before adds nothing.
func (m *month) mergeTotal(total, pushed int64) {
	m.account.mu.Lock()
	defer m.account.mu.Unlock()
	others := max(0, total-m.stored-pushed)
	m.stored += pushed + others
	m.allocated += others
	m.used += others
}

// wire returns the quota in the API's form.
func (m *month) wire(limit, used int64) schema.Quota {
	return schema.Quota{
		Period: m.period, Limit: limit, Used: used, Percent: used * 100 / limit,
		ResetsAt: schema.FormatTime(time.Unix(m.ends, 0)),
	}
}

// mark is a percentage of the quota. Once per month, an event announces that usage reaches the mark.
type mark struct {
	set       string
	event     schema.EventType
	threshold int64 // per cent
}

// marks are all marks of a quota, in ascending order of their thresholds.
var marks = [...]mark{
	{"UPDATE quota_period SET warned_at = $1 WHERE account_id = $2 AND period = $3 AND warned_at IS NULL", schema.EventQuotaWarning, 80},
	{"UPDATE quota_period SET exceeded_at = $1 WHERE account_id = $2 AND period = $3 AND exceeded_at IS NULL", schema.EventQuotaExceeded, 100},
}

// reached reports whether used/limit is at least the mark.
func (m *mark) reached(used, limit int64) bool { return used*100 >= limit*m.threshold }

// announce records that the usage of the month has reached the mark with the index i, and appends the event. If the
// mark was announced before, announce does nothing. The event therefore occurs once per month, even if the plan
// changes or several instances count. If a call of this instance reached the mark, the event has the usage after that
// call. Otherwise the event has `total`, the store's total, which may be higher.
func (m *month) announce(tx *sqlstore.Tx, events Events, i int, limit, total, now int64) error {
	set, err := tx.Exec(marks[i].set, now, m.account.id, m.period)
	if err != nil {
		return fmt.Errorf("marking quota_period: %w", err)
	}
	if set == 0 || events == nil {
		return nil
	}
	m.account.mu.Lock()
	at := m.usedAtMark[i]
	m.account.mu.Unlock()
	if at == 0 || at > total || !marks[i].reached(at, limit) {
		at = total
	}
	data := m.wire(limit, at)
	data.Threshold = marks[i].threshold
	if _, err := events.Append(tx, m.account.id, schema.Live, marks[i].event, data); err != nil {
		return fmt.Errorf("announcing %s: %w", marks[i].event, err)
	}
	return nil
}
