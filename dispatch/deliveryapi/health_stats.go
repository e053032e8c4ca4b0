package deliveryapi

import (
	"cmp"
	"slices"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

type healthStats struct {
	webhook     string
	now         int64
	all         map[string]healthDelivery // by id
	attemptRows []healthAttempt
	// states counts all waiting and failed deliveries. `oldest` is the creation time of the oldest waiting delivery.
	// `next` is the due time of the next delivery without a lease. Both are Unix microseconds, or 0 for none.
	states       schema.DeliveryCounts
	oldest, next int64
}

type healthDelivery struct {
	state   schema.DeliveryState
	created int64 // microseconds
}

type healthAttempt struct {
	delivery string
	number   int
	lastScan
}

func (t *healthStats) add(row sqlstore.Scanner) error {
	var d healthDelivery
	var a healthAttempt
	err := row.Scan(&a.delivery, &d.state, &d.created, &a.number, &a.at, &a.duration, &a.stage, &a.status, &a.text)
	t.all[a.delivery] = d
	if a.at.Valid {
		t.attemptRows = append(t.attemptRows, a)
	}
	return err
}

func (a *healthAttempt) ok() bool {
	return schema.Stage(a.stage.String) == schema.StageStatus && a.status.Int64 >= 200 && a.status.Int64 < 300
}

// bound drops the oldest delivery if there are more than healthMost, and reports whether it has dropped one.
func (t *healthStats) bound() (more bool) {
	if len(t.all) <= healthMost {
		return false
	}
	oldest := ""
	for id := range t.all {
		if oldest == "" || id < oldest {
			oldest = id
		}
	}
	delete(t.all, oldest)
	t.attemptRows = slices.DeleteFunc(t.attemptRows, func(a healthAttempt) bool { return a.delivery == oldest })
	return true
}

// response computes the health of the webhook from the collected deliveries and attempts.
func (t *healthStats) response(active bool) schema.WebhookHealth {
	h := schema.WebhookHealth{Status: schema.Success, WebhookID: t.webhook, HasMore: t.bound(), Deliveries: len(t.all)}
	slices.SortFunc(t.attemptRows, func(a, b healthAttempt) int { // newest first
		return cmp.Or(cmp.Compare(b.at.Int64, a.at.Int64), cmp.Compare(b.delivery, a.delivery), cmp.Compare(b.number, a.number))
	})
	t.deliveries(&h)
	t.attempts(&h)
	h.ByHour = t.byHour()
	h.Health = t.health(&h, active)
	return h
}

func (t *healthStats) deliveries(h *schema.WebhookHealth) {
	h.States = t.states
	since := int64(0)
	for _, d := range t.all {
		if since == 0 || d.created < since {
			since = d.created
		}
		switch d.state {
		case schema.DeliveryDelivered:
			h.States.Delivered++
		case schema.DeliveryCancelled:
			h.States.Cancelled++
		}
	}
	h.Since, h.OldestWaitingAt, h.NextAttemptAt = instantOrNull(since), instantOrNull(t.oldest), instantOrNull(t.next)
}

func instantOrNull(micros int64) *string {
	if micros == 0 {
		return nil
	}
	text := schema.FormatMillis(micros)
	return &text
}

// attempts counts the attempts, computes percentiles of their durations, and finds the last success and failure.
func (t *healthStats) attempts(h *schema.WebhookHealth) {
	took := make([]int64, len(t.attemptRows))
	for i := range t.attemptRows {
		a := &t.attemptRows[i]
		took[i] = a.duration.Int64
		last := &h.LastFailure
		if a.ok() {
			last = &h.LastSuccess
			h.Attempts.Successes++
		}
		if *last == nil {
			*last = &schema.WebhookAttempt{DeliveryID: a.delivery, LastAttempt: *a.shown(a.number)}
		}
	}
	slices.Sort(took)
	h.Attempts.Count, h.Attempts.MedianMS, h.Attempts.P95MS = len(took), percentile(took, 50), percentile(took, 95)
}

// percentile returns a nearest-rank percentile of durations, in milliseconds. It returns nil if there are no durations.
func percentile(sorted []int64, percent int) *float64 {
	if len(sorted) == 0 {
		return nil
	}
	ms := milliseconds(sorted[(len(sorted)*percent+99)/100-1])
	return &ms
}

// hoursShown is the number of hours in the reply's field by_hour, including the current one.
const hoursShown = 24

func (t *healthStats) byHour() []schema.AttemptsOfHour {
	first := time.UnixMicro(t.now).UTC().Truncate(time.Hour).Add((1 - hoursShown) * time.Hour)
	hours := make([]schema.AttemptsOfHour, hoursShown)
	for i := range hours {
		hours[i].Hour = first.Add(time.Duration(i) * time.Hour).Format(time.RFC3339)
	}
	for i := range t.attemptRows {
		a := &t.attemptRows[i]
		since := a.at.Int64 - first.UnixMicro()
		n := since / time.Hour.Microseconds()
		if since < 0 || n >= int64(len(hours)) {
			continue
		}
		if hour := &hours[n]; a.ok() {
			hour.Delivered++
		} else {
			hour.Failed++
		}
	}
	return hours
}

// health derives the health of the webhook from its newest attempts, its failed deliveries, and whether it is active.
func (t *healthStats) health(h *schema.WebhookHealth, active bool) schema.Health {
	row := 0 // how many of the newest attempts in a row have failed
	for row < len(t.attemptRows) && !t.attemptRows[row].ok() {
		row++
	}
	recent := t.attemptRows[:min(len(t.attemptRows), healthRecent)]
	switch {
	case !active:
		return schema.HealthPaused
	case len(t.attemptRows) == 0:
		return schema.HealthIdle
	case row >= failingFrom:
		return schema.HealthFailing
	case h.States.Unretried > 0 || slices.ContainsFunc(recent, func(a healthAttempt) bool { return !a.ok() }):
		return schema.HealthDegraded
	}
	return schema.HealthHealthy
}
