package subscription

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// specOf parses the body of POST /v1/webhooks and reports all its errors.
func (cache *Cache) specOf(c *httpapi.Call) (Spec, error) {
	wanted, err := httpapi.Decode[struct {
		URL    *string            `json:"url"`
		Events []schema.EventType `json:"events"`
		Secret *string            `json:"secret"`
		Clear  *bool              `json:"clear_numbers"`
	}](c)
	if err != nil {
		return Spec{}, err
	}
	spec := Spec{Owner: c.Owner(), ClearNumbers: wanted.Clear != nil && *wanted.Clear}
	var f faults
	if wanted.URL == nil {
		f.Add("url", "The url is missing. Send the URL of the endpoint.")
	} else if spec.URL, err = cache.url(&f, *wanted.URL); err != nil {
		return Spec{}, err
	}
	spec.Events = f.events(wanted.Events)
	spec.Secret = f.secret(wanted.Secret)
	if err := f.Problem(); err != nil {
		return Spec{}, err
	}
	may := c.Scopes.Readable()
	if spec.ClearNumbers {
		if err := clearable(may); err != nil {
			return Spec{}, err
		}
	}
	return spec, readable(may, spec.Events)
}

// clearable returns a problem if a key may not turn on clear_numbers (unmasked mobile numbers). Only events of
// recharges contain mobile numbers, so the key must be able to read these events. `may` lists the event types that the
// key may read.
func clearable(may []schema.EventType) error {
	if slices.Contains(may, schema.EventRechargeCompleted) {
		return nil
	}
	return schema.NewProblem(schema.InsufficientScope, "clear_numbers", "The API key lacks the scope "+string(schema.RechargeRead)+", which clear_numbers requires.")
}

// readable returns a problem if a key may not read one of the given event types, which are those of a webhook. Without
// this check, a key could get any event by creating a webhook. `may` lists the event types that the key may read.
func readable(may, events []schema.EventType) error {
	for _, event := range events {
		if !slices.Contains(may, event) {
			return schema.UnreadableEvent("events", event)
		}
	}
	return nil
}

// optional is a field that a body may leave out. It distinguishes a null value from a missing field.
type optional[T any] struct {
	present, null bool
	value         T
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (g *optional[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	g.present, g.null = true, d.PeekKind() == jsontext.KindNull
	return json.UnmarshalDecode(d, &g.value)
}

// in reports whether the body has the field with a value other than null. It adds an error if the value is null.
func (g *optional[T]) in(f *faults, field string) bool {
	if g.null {
		f.Add(field, "The "+field+" must not be null. Omit it to keep its value.")
	}
	return g.present && !g.null
}

// patchOf parses the body of PATCH /v1/webhooks/{id} and reports all its errors.
func (cache *Cache) patchOf(c *httpapi.Call) (Patch, error) {
	wanted, err := httpapi.Decode[struct {
		URL    optional[string]             `json:"url"`
		Events optional[[]schema.EventType] `json:"events"`
		Active optional[bool]               `json:"active"`
		Clear  optional[bool]               `json:"clear_numbers"`
		Secret optional[jsontext.Value]     `json:"secret"`
	}](c)
	if err != nil {
		return Patch{}, err
	}
	p := Patch{Readable: c.Scopes.Readable()}
	var f faults
	if wanted.URL.in(&f, "url") {
		url, err := cache.url(&f, wanted.URL.value)
		if err != nil {
			return Patch{}, err
		}
		p.URL = &url
	}
	if wanted.Events.in(&f, "events") {
		p.Events = f.events(wanted.Events.value)
	}
	if wanted.Active.in(&f, "active") {
		p.Active = &wanted.Active.value
	}
	if wanted.Clear.in(&f, "clear_numbers") {
		p.ClearNumbers = &wanted.Clear.value
	}
	if wanted.Secret.present {
		f.Add("secret", "The secret cannot be changed here. Use POST "+path+"/{id}/rotate-secret.")
	}
	if !wanted.URL.present && !wanted.Events.present && !wanted.Active.present && !wanted.Clear.present && !wanted.Secret.present {
		f.Add("", "Send at least one of url, events, active and clear_numbers.")
	}
	return p, f.Problem()
}

// rotationOf parses the optional body of a rotation.
func rotationOf(c *httpapi.Call) (Rotation, error) {
	wanted, err := httpapi.DecodeOptional[struct {
		GraceSeconds *int64  `json:"grace_seconds"`
		Secret       *string `json:"secret"`
	}](c)
	if err != nil {
		return Rotation{}, err
	}
	n := Rotation{Grace: DefaultGrace}
	var f faults
	if wanted.GraceSeconds != nil {
		const longest = int64(maxGrace / time.Second)
		n.Grace = time.Duration(max(-1, min(*wanted.GraceSeconds, longest+1))) * time.Second // avoids an overflow
	}
	f.grace(n.Grace)
	n.Secret = f.secret(wanted.Secret)
	return n, f.Problem()
}

// testOf parses the optional body of a request for a test event, and returns the event type; "" if the body has none.
func testOf(c *httpapi.Call) (schema.EventType, error) {
	wanted, err := httpapi.DecodeOptional[struct {
		Type *schema.EventType `json:"type"`
	}](c)
	if err != nil || wanted.Type == nil {
		return "", err
	}
	if !slices.Contains(schema.EventTypes, *wanted.Type) {
		return "", schema.NewProblem(schema.UnknownEventType, "type", unknownEvent(*wanted.Type))
	}
	return *wanted.Type, nil
}
