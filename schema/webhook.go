package schema

import "time"

// WebhookClockMargin is the tolerated clock skew between the instance that creates a subscription and one that creates
// an event. A subscription receives the events that are created after the subscription. Because of the margin, it may
// also receive events that were created up to a minute before the subscription.
const WebhookClockMargin = time.Minute

// Webhook is a webhook subscription without its secret. Times are RFC 3339 in UTC, in whole seconds.
type Webhook struct {
	ID          string      `json:"id"` // wh_ + ULID
	URL         string      `json:"url"`
	Events      []EventType `json:"events"`
	Active      bool        `json:"active"` // false: paused, deliveries wait
	APIVersion  string      `json:"api_version"`
	Mode        string      `json:"mode"` // live or sandbox
	CreatedAt   string      `json:"created_at"`
	SecretLast4 string      `json:"secret_last4"`
	// ClearNumbers is true if the numbers in recharge.* events are not masked.
	ClearNumbers bool `json:"clear_numbers,omitempty"`
	// PreviousSecretUntil is the time at which the previous secret expires after a rotation, or null if deliveries are
	// signed with one secret only.
	PreviousSecretUntil *string `json:"previous_secret_until"`
	// Backlog is present if waiting deliveries failed in the last 30 days because there were more than the backlog
	// limit.
	Backlog *WebhookBacklog `json:"backlog,omitempty"`
}

// WebhookBacklog states that a webhook had more waiting deliveries than the backlog limit.
type WebhookBacklog struct {
	Limit     int64  `json:"limit"`  // largest number of waiting deliveries
	Failed    int64  `json:"failed"` // number of deliveries, the oldest ones, that failed because of the limit
	ReachedAt string `json:"reached_at"`
}

// WebhookReply is a reply about one subscription. Secret is present only in a reply that creates the subscription or
// rotates its secret, and only if the service generated the secret.
type WebhookReply struct {
	Status string `json:"status"`
	Webhook

	Secret string `json:"secret,omitempty"`
}

// WebhookDeleted is the reply to DELETE /v1/webhooks/{id}.
type WebhookDeleted struct {
	Status  string `json:"status"`
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
}

// WebhookTested is the reply to POST /v1/webhooks/{id}/test.
type WebhookTested struct {
	Status     string `json:"status"`
	EventID    string `json:"event_id"`
	DeliveryID string `json:"delivery_id"`
}

// DeliveryState is the state of a delivery of an event to a subscription.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryWaiting   DeliveryState = "waiting"   // an attempt is scheduled, due or running
	DeliveryDelivered DeliveryState = "delivered" // the endpoint answered 2xx
	DeliveryFailed    DeliveryState = "failed"    // the last attempt failed, or too many deliveries waited
	DeliveryCancelled DeliveryState = "cancelled" // its subscription was deleted, or a manual retry replaced it
)

// DeliveryStates lists every state of a delivery.
var DeliveryStates = []DeliveryState{DeliveryWaiting, DeliveryDelivered, DeliveryFailed, DeliveryCancelled}

// Delivery is the delivery of one event to one subscription. Times are RFC 3339 in UTC, with milliseconds.
type Delivery struct {
	ID        string        `json:"id"` // dlv_ + ULID
	WebhookID string        `json:"webhook_id"`
	EventID   string        `json:"event_id"`
	EventType EventType     `json:"event_type"`
	State     DeliveryState `json:"state"`
	Made      int           `json:"attempts_made"`
	CreatedAt string        `json:"created_at"`
	// NextAttemptAt is the time at which the next attempt is due. It is null while an attempt runs or is about to
	// start, and if no attempt will follow.
	NextAttemptAt *string `json:"next_attempt_at"`
	FinishedAt    *string `json:"finished_at"`
	// RetryOf is the id of the delivery that this delivery retries manually. RetriedAs is the id of the manual retry
	// of this delivery.
	RetryOf   *string `json:"retry_of"`
	RetriedAs *string `json:"retried_as"`
	// LastAttempt is the newest attempt. It is null before the first attempt has ended.
	LastAttempt *LastAttempt `json:"last_attempt"`
}

// LastAttempt is the newest HTTP request (POST) of a delivery, without the header and body of the response.
type LastAttempt struct {
	Number     int     `json:"attempt"`
	At         string  `json:"at"`
	DurationMS float64 `json:"duration_ms"`
	Stage      Stage   `json:"stage"`
	HTTPStatus *int    `json:"http_status"`
	Error      string  `json:"error"`
}

// Stage is the last step of an HTTP request that an attempt reached.
type Stage string

// The stages of an attempt, in order. An attempt that got a response ended in StageStatus, even if the HTTP status is
// an error.
const (
	StageDNS     Stage = "dns"
	StageConnect Stage = "connect"
	StageTLS     Stage = "tls"
	StageWrite   Stage = "write"
	StageWait    Stage = "wait"
	StageStatus  Stage = "status"
)

// NoWebhook returns the error not_found for a webhook that does not exist or belongs to
// another account. `field` is the request field with the webhook's id.
func NoWebhook(field string) error {
	return NewProblem(NotFound, field, "There is no such webhook.")
}

// DeliveriesRetried is the reply of the endpoints for manual retries. HasMore is true if the time range of the request
// has more failed deliveries. To retry these, repeat the request.
type DeliveriesRetried struct {
	Status  string   `json:"status"`
	Retried int      `json:"retried"`
	IDs     []string `json:"delivery_ids"` // ids of the new deliveries
	HasMore bool     `json:"has_more"`
}
