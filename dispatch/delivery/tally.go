package delivery

import (
	"cmp"
	"slices"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// tally counts up the deliveries and attempts of a webhook.
type tally struct {
	webhook string
	now     int64
	all     map[string]counted // deliveries by their ids
	made    []tallied
}

// counted is a delivery.
type counted struct {
	state        schema.DeliveryState
	created, due int64 // due: 0 while an attempt is under way
	retried      bool
}

// tallied is an attempt.
type tallied struct {
	delivery string
	number   int
	lastScan
}

func newTally(webhook string, now time.Time) *tally {
	return &tally{webhook: webhook, now: now.UnixMicro(), all: map[string]counted{}}
}

// take adds a row of selectHealth.
func (t *tally) take(row sqlstore.Scanner) error {
	var d counted
	var a tallied
	var token, retriedAs string
	err := row.Scan(&a.delivery, &d.state, &d.created, &d.due, &token, &retriedAs, &a.number, &a.at, &a.duration, &a.stage, &a.status, &a.text)
	if token != "" && d.due > t.now {
		d.due = 0
	}
	d.retried = retriedAs != ""
	t.all[a.delivery] = d
	if a.at.Valid {
		t.made = append(t.made, a)
	}
	return err
}

// ok reports whether a receiver has acknowledged.
func (a *tallied) ok() bool {
	return schema.Stage(a.stage.String) == schema.StageStatus && a.status.Int64 >= 200 && a.status.Int64 < 300
}

// bound drops the oldest delivery when there is one too many, and says so.
func (t *tally) bound() (more bool) {
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
	t.made = slices.DeleteFunc(t.made, func(a tallied) bool { return a.delivery == oldest })
	return true
}

// shown is what it comes to.
func (t *tally) shown(active bool) schema.WebhookHealth {
	h := schema.WebhookHealth{Status: schema.Success, WebhookID: t.webhook, HasMore: t.bound(), Deliveries: len(t.all)}
	slices.SortFunc(t.made, func(a, b tallied) int { // the newest first
		return cmp.Or(cmp.Compare(b.at.Int64, a.at.Int64), cmp.Compare(b.delivery, a.delivery), cmp.Compare(b.number, a.number))
	})
	t.deliveries(&h)
	t.attempts(&h)
	h.ByHour = t.byHour()
	h.Health = t.judge(&h, active)
	return h
}

// deliveries counts the deliveries.
func (t *tally) deliveries(h *schema.WebhookHealth) {
	var since, oldest, next int64
	for _, d := range t.all {
		since = earlier(since, d.created)
		switch d.state {
		case schema.DeliveryWaiting:
			h.States.Waiting++
			oldest, next = earlier(oldest, d.created), earlier(next, d.due)
		case schema.DeliveryDelivered:
			h.States.Delivered++
		case schema.DeliveryFailed:
			h.States.Failed++
			if !d.retried {
				h.States.Unretried++
			}
		case schema.DeliveryCancelled:
			h.States.Cancelled++
		}
	}
	h.Since, h.OldestWaitingAt, h.NextAttemptAt = instantOrNull(since), instantOrNull(oldest), instantOrNull(next)
}

// earlier is the earlier of two moments, of which 0 is none.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func instantOrNull(micros int64) *string {
	if micros == 0 {
		return nil
	}
	text := shownInstant(micros)
	return &text
}

// attempts counts the attempts and finds the last ones.
func (t *tally) attempts(h *schema.WebhookHealth) {
	took := make([]int64, len(t.made))
	for i := range t.made {
		a := &t.made[i]
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

// percentile is the least of sorted values that so many per cent do not exceed, in
// milliseconds; nil when there are none.
func percentile(sorted []int64, percent int) *float64 {
	if len(sorted) == 0 {
		return nil
	}
	ms := milliseconds(sorted[(len(sorted)*percent+99)/100-1])
	return &ms
}

// hoursShown are the hours of by_hour, the one that goes on included.
const hoursShown = 24

// byHour are the attempts of the last hours.
func (t *tally) byHour() []schema.AttemptsOfHour {
	first := time.UnixMicro(t.now).UTC().Truncate(time.Hour).Add((1 - hoursShown) * time.Hour)
	hours := make([]schema.AttemptsOfHour, hoursShown)
	for i := range hours {
		hours[i].Hour = first.Add(time.Duration(i) * time.Hour).Format(time.RFC3339)
	}
	for i := range t.made {
		a := &t.made[i]
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

// judge is the word for it.
func (t *tally) judge(h *schema.WebhookHealth, active bool) schema.Health {
	row := 0 // of failures, the newest first
	for row < len(t.made) && !t.made[row].ok() {
		row++
	}
	recent := t.made[:min(len(t.made), healthRecent)]
	switch {
	case !active:
		return schema.HealthPaused
	case len(t.made) == 0:
		return schema.HealthIdle
	case row >= failingFrom:
		return schema.HealthFailing
	case h.States.Unretried > 0 || slices.ContainsFunc(recent, func(a tallied) bool { return !a.ok() }):
		return schema.HealthDegraded
	}
	return schema.HealthHealthy
}
