package schema

// Health classifies a webhook by its recent deliveries.
type Health string

// The values of Health. If several apply, the OpenAPI document states which is used.
const (
	HealthIdle     Health = "idle"     // no delivery had an attempt
	HealthHealthy  Health = "healthy"  // no other value applies
	HealthDegraded Health = "degraded" // one of the 20 newest attempts failed, or a failed delivery was not retried
	HealthFailing  Health = "failing"  // at least the three newest attempts failed
	HealthPaused   Health = "paused"   // the webhook is not active, so deliveries wait
)

// WebhookHealth is the reply to GET /v1/webhooks/{id}/health. Its statistics cover the newest deliveries of the
// webhook, at most 1,000. They exclude deliveries that wait for their first attempt.
type WebhookHealth struct {
	Status    string `json:"status"`
	WebhookID string `json:"webhook_id"`
	Health    Health `json:"health"`
	// Deliveries is the number of deliveries that the statistics cover. Since is the time at which the oldest of them
	// was created, or null if there are none. HasMore is true if there are older deliveries.
	Deliveries int            `json:"deliveries"`
	Since      *string        `json:"since"`
	HasMore    bool           `json:"has_more"`
	States     DeliveryCounts `json:"states"`
	// OldestWaitingAt is the creation time of the oldest waiting delivery, or null if no delivery waits. NextAttemptAt
	// is the time at which the next attempt is due, or null if no attempt is due besides those in progress.
	OldestWaitingAt *string          `json:"oldest_waiting_at"`
	NextAttemptAt   *string          `json:"next_attempt_at"`
	Attempts        AttemptCounts    `json:"attempts"`
	LastSuccess     *WebhookAttempt  `json:"last_success"`
	LastFailure     *WebhookAttempt  `json:"last_failure"`
	ByHour          []AttemptsOfHour `json:"by_hour"` // the last 24 hours, the oldest first
}

// DeliveryCounts is the number of deliveries per state. Waiting, Failed and Unretried count all stored deliveries of
// the webhook. Delivered and Cancelled count only the deliveries that the statistics cover. Unretried is the number of
// failed deliveries without a manual retry.
type DeliveryCounts struct {
	Waiting   int `json:"waiting"`
	Delivered int `json:"delivered"`
	Failed    int `json:"failed"`
	Cancelled int `json:"cancelled"`
	Unretried int `json:"failed_unretried"`
}

// AttemptCounts is the number of attempts, with percentiles of their duration in
// milliseconds. The percentiles are null if there are no attempts.
type AttemptCounts struct {
	Count     int      `json:"count"`
	Successes int      `json:"successes"`
	MedianMS  *float64 `json:"median_ms"`
	P95MS     *float64 `json:"p95_ms"`
}

// WebhookAttempt is an attempt, with the id of its delivery.
type WebhookAttempt struct {
	DeliveryID string `json:"delivery_id"`

	LastAttempt
}

// AttemptsOfHour is the number of attempts that began within one hour.
type AttemptsOfHour struct {
	Hour      string `json:"hour"` // beginning of the hour, RFC 3339 in UTC
	Delivered int    `json:"delivered"`
	Failed    int    `json:"failed_attempts"`
}
