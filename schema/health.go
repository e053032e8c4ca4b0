package schema

// Health classifies how the recent deliveries of a webhook went.
type Health string

// The classes. Of several that apply, the OpenAPI document defines the order.
const (
	HealthIdle     Health = "idle"     // no attempt at these deliveries
	HealthHealthy  Health = "healthy"  // no other value applies
	HealthDegraded Health = "degraded" // an attempt or a delivery failed recently
	HealthFailing  Health = "failing"  // the newest attempts all failed
	HealthPaused   Health = "paused"   // not active, so deliveries wait
)

// WebhookHealth is the reply of GET /v1/webhooks/{id}/health. It covers the
// webhook's newest deliveries, at most 1,000.
type WebhookHealth struct {
	Status    string `json:"status"`
	WebhookID string `json:"webhook_id"`
	Health    Health `json:"health"`
	// Deliveries is their number, and States the number per state. Since is the
	// creation time of the oldest, null if there are none. HasMore reports older
	// ones.
	Deliveries int            `json:"deliveries"`
	Since      *string        `json:"since"`
	HasMore    bool           `json:"has_more"`
	States     DeliveryCounts `json:"states"`
	// OldestWaitingAt is the creation time of the oldest waiting delivery.
	// NextAttemptAt is when the next attempt is due. Both are null if none waits.
	OldestWaitingAt *string          `json:"oldest_waiting_at"`
	NextAttemptAt   *string          `json:"next_attempt_at"`
	Attempts        AttemptCounts    `json:"attempts"`
	LastSuccess     *WebhookAttempt  `json:"last_success"`
	LastFailure     *WebhookAttempt  `json:"last_failure"`
	ByHour          []AttemptsOfHour `json:"by_hour"` // 24, the oldest first
}

// DeliveryCounts is the number of deliveries per state. Unretried are the failed
// ones without a manual retry.
type DeliveryCounts struct {
	Waiting   int `json:"waiting"`
	Delivered int `json:"delivered"`
	Failed    int `json:"failed"`
	Cancelled int `json:"cancelled"`
	Unretried int `json:"failed_unretried"`
}

// AttemptCounts are the attempts and percentiles of their duration in
// milliseconds. These are null if there are no attempts.
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

// AttemptsOfHour counts the attempts that began within an hour.
type AttemptsOfHour struct {
	Hour      string `json:"hour"` // its beginning, RFC 3339 in UTC
	Delivered int    `json:"delivered"`
	Failed    int    `json:"failed_attempts"`
}
