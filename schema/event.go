package schema

import (
	"bytes"
	"embed"
	"encoding/json"
	"slices"
	"strings"
)

// EventType is the type of an event, such as recharge.completed.
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
	EventSourceDegraded            EventType = "source.degraded"
	EventSourceRecovered           EventType = "source.recovered"
	EventAlertTriggered            EventType = "air.alert.triggered"
	EventAlertResolved             EventType = "air.alert.resolved"
	EventAlertTest                 EventType = "air.alert.test"
	EventWebhookFailing            EventType = "webhook.failing"
	EventWebhookRecovered          EventType = "webhook.recovered"
)

// EventTypes lists every type of event, in the documented order.
var EventTypes = []EventType{
	EventRechargeCompleted, EventRechargeFailed, EventRechargePending, EventRechargeRefunded,
	EventVerificationCompleted, EventVerificationBulkCompleted, EventVerificationFailed,
	EventQuotaWarning, EventQuotaExceeded, EventPaymentSucceeded, EventPaymentFailed,
	EventSourceDegraded, EventSourceRecovered,
	EventAlertTriggered, EventAlertResolved, EventAlertTest,
	EventWebhookFailing, EventWebhookRecovered,
}

// Operational reports whether events of this type are about the service itself. Only accounts of operators receive
// them: accounts with a key that has the scope [SourcesRead].
func (t EventType) Operational() bool { return t.Scope() == SourcesRead }

// Scope returns the scope that a key needs to read events of this type, such as recharge:read. For an unknown type,
// Scope returns "", and no key can read such events.
func (t EventType) Scope() Scope {
	switch family, _, _ := strings.Cut(string(t), "."); family {
	case "recharge", "payment":
		return RechargeRead
	case "verification":
		return VerifyRead
	case "quota":
		return AccountRead
	case "source":
		return SourcesRead
	case "air":
		return AlertsManage
	case "webhook":
		return WebhooksManage
	}
	return ""
}

// Readable returns the types of events that a key with these scopes may read, in the order of EventTypes.
func (s ScopeSet) Readable() []EventType {
	all := make([]EventType, 0, len(EventTypes))
	for _, t := range EventTypes {
		if s.Has(t.Scope()) {
			all = append(all, t)
		}
	}
	return all
}

// CustomerEventTypes returns the types of events that accounts of customers receive.
func CustomerEventTypes() []EventType {
	return slices.DeleteFunc(slices.Clone(EventTypes), EventType.Operational)
}

// HidesCustomerEvents reports whether a list of readable types lacks a type that customers receive. A nil list means
// that all types are readable.
func HidesCustomerEvents(readable []EventType) bool {
	return readable != nil && slices.ContainsFunc(EventTypes, func(t EventType) bool {
		return !t.Operational() && !slices.Contains(readable, t)
	})
}

// UnreadableEvent returns the error for a key that lacks the scope for events of a type. `field` is the request field
// that names the type, or "" if no field does.
func UnreadableEvent(field string, t EventType) *Problem {
	return NewProblem(InsufficientScope, field, "The API key lacks the scope "+string(t.Scope())+", which events of the type "+string(t)+" require.")
}

// EventVersion is the value of the field api_version in new events.
const EventVersion = "2026-11-01"

// Envelope is the JSON body in which a webhook receives an event. An event is encoded once, when it is created. Every
// delivery sends the same bytes, except that a webhook with [Webhook.ClearNumbers] receives unmasked numbers.
type Envelope struct {
	ID         string          `json:"id"` // evt_ + ULID
	Type       EventType       `json:"type"`
	Created    int64           `json:"created"` // Unix seconds
	APIVersion string          `json:"api_version"`
	Data       json.RawMessage `json:"data"`
}

// EventReply is a reply about one event.
type EventReply struct {
	Status string          `json:"status"`
	Data   json.RawMessage `json:"data"` // the stored Envelope
}

// examples has one file per type of event, with the documented example of the event's data.
//
//go:embed example/*.json
var examples embed.FS

// EventExample returns example data of a type of event, as in the documentation: a JSON object without white space. It
// returns nil for an unknown type.
func EventExample(t EventType) json.RawMessage {
	text, err := examples.ReadFile("example/" + string(t) + ".json")
	if err != nil {
		return nil
	}
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		return nil
	}
	return out.Bytes()
}

// TestEventData returns the data of a test event: the documented example with "test":
// true at its end. It returns nil for an unknown type.
func TestEventData(t EventType) json.RawMessage {
	object, ok := bytes.CutSuffix(EventExample(t), []byte("}"))
	if !ok {
		return nil
	}
	return append(object, `,"test":true}`...)
}
