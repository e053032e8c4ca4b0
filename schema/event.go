package schema

import "encoding/json"

// EventType names what happened (spec 6.1).
type EventType string

// The types of events.
const (
	EventRechargeCompleted         EventType = "recharge.completed"
	EventRechargeFailed            EventType = "recharge.failed"
	EventRechargePending           EventType = "recharge.pending"
	EventRechargeRefunded          EventType = "recharge.refunded"
	EventVerificationCompleted     EventType = "verification.completed"
	EventVerificationBulkCompleted EventType = "verification.bulk.completed"
	EventVerificationFailed        EventType = "verification.failed"
	EventQuotaWarning              EventType = "quota.warning"
	EventQuotaExceeded             EventType = "quota.exceeded"
	EventPaymentSucceeded          EventType = "payment.succeeded"
	EventPaymentFailed             EventType = "payment.failed"
)

// EventTypes is every type of event, in the order of spec 6.1.
var EventTypes = []EventType{
	EventRechargeCompleted, EventRechargeFailed, EventRechargePending, EventRechargeRefunded,
	EventVerificationCompleted, EventVerificationBulkCompleted, EventVerificationFailed,
	EventQuotaWarning, EventQuotaExceeded, EventPaymentSucceeded, EventPaymentFailed,
}

// EventVersion is the api_version of envelopes that are made now.
const EventVersion = "2026-11-01"

// Envelope is what a receiver gets (spec 2.6). Its bytes are made once, when the
// event happens, and sent and shown as they are ever after.
type Envelope struct {
	ID         string          `json:"id"` // evt_ + ULID
	Type       EventType       `json:"type"`
	Created    int64           `json:"created"` // Unix seconds
	APIVersion string          `json:"api_version"`
	Data       json.RawMessage `json:"data"`
}

// EventShown is the reply to a question about one event.
type EventShown struct {
	Status string          `json:"status"`
	Data   json.RawMessage `json:"data"` // an Envelope as it was stored
}

// TestEventData is the data of a test event: the documented example of a type,
// with "test": true.
func TestEventData(t EventType) json.RawMessage { panic("not written yet") }
