package schema

// Health is how a webhook does, in one word.
type Health string

// The healths of a webhook, see Health in the contract.
const (
	HealthIdle     Health = "idle"
	HealthHealthy  Health = "healthy"
	HealthDegraded Health = "degraded"
	HealthFailing  Health = "failing"
	HealthPaused   Health = "paused"
)

// WebhookHealth is the reply of GET /v1/webhooks/{id}/health. All of it is about
// the webhook's newest deliveries, 1,000 at most.
type WebhookHealth struct {
	Status    string `json:"status"`
	WebhookID string `json:"webhook_id"`
	Health    Health `json:"health"`
	// Deliveries is how many there are, and in which states. Since is when the oldest
	// was made, null when there is none; HasMore says that there are older ones.
	Deliveries int            `json:"deliveries"`
	Since      *string        `json:"since"`
	HasMore    bool           `json:"has_more"`
	States     DeliveryCounts `json:"states"`
	// OldestWaitingAt is when the oldest that waits was made, NextAttemptAt when the
	// next attempt is due; null for none.
	OldestWaitingAt *string          `json:"oldest_waiting_at"`
	NextAttemptAt   *string          `json:"next_attempt_at"`
	Attempts        AttemptCounts    `json:"attempts"`
	LastSuccess     *WebhookAttempt  `json:"last_success"`
	LastFailure     *WebhookAttempt  `json:"last_failure"`
	ByHour          []AttemptsOfHour `json:"by_hour"` // 24, the oldest first
}

// DeliveryCounts is how many deliveries are in each state. Unretried are those of
// the failed ones that were not delivered again by hand.
type DeliveryCounts struct {
	Waiting   int `json:"waiting"`
	Delivered int `json:"delivered"`
	Failed    int `json:"failed"`
	Cancelled int `json:"cancelled"`
	Unretried int `json:"failed_unretried"`
}

// AttemptCounts are attempts and how long they took in milliseconds, null when
// there are none: half of them at most the median, 95 % at most P95.
type AttemptCounts struct {
	Count     int      `json:"count"`
	Successes int      `json:"successes"`
	MedianMS  *float64 `json:"median_ms"`
	P95MS     *float64 `json:"p95_ms"`
}

// WebhookAttempt is an attempt and the delivery that it belongs to.
type WebhookAttempt struct {
	DeliveryID string `json:"delivery_id"`

	LastAttempt
}

// AttemptsOfHour are the attempts that were begun within an hour.
type AttemptsOfHour struct {
	Hour      string `json:"hour"` // its beginning, RFC 3339 in UTC
	Delivered int    `json:"delivered"`
	Failed    int    `json:"failed_attempts"`
}
