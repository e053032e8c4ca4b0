package subscription

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// specOf reads the body of POST /v1/webhooks, with every fault of it.
func (b *Book) specOf(c *httpapi.Call) (Spec, error) {
	if _, err := httpapi.Parameters(c.URL.RawQuery); err != nil {
		return Spec{}, err
	}
	wanted, err := httpapi.Decode[struct {
		URL    *string            `json:"url"`
		Events []schema.EventType `json:"events"`
		Secret *string            `json:"secret"`
		Clear  *bool              `json:"clear_numbers"`
	}](c)
	if err != nil {
		return Spec{}, err
	}
	spec := Spec{Owner: c.Owner(), Events: wanted.Events}
	var f faults
	if wanted.URL == nil {
		f.Add("url", "The url is missing: say where events are to be sent.")
	} else {
		spec.URL = *wanted.URL
	}
	spec.Secret = f.chosen(wanted.Secret)
	spec.ClearNumbers = wanted.Clear != nil && *wanted.Clear
	if err := b.checkSpec(&f, &spec); err != nil {
		return Spec{}, err
	}
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

// clearable refuses numbers in clear to a key that may not read recharges, which have
// them. May are the types of events that the key may read.
func clearable(may []schema.EventType) error {
	if slices.Contains(may, schema.EventRechargeCompleted) {
		return nil
	}
	return schema.Refuse(schema.InsufficientScope, "clear_numbers", "The API key lacks the scope "+string(schema.RechargeRead)+", which numbers in clear need.")
}

// readable refuses types of events that are not among those that a key may read:
// else a key that manages webhooks could have sent to itself what it cannot ask for.
func readable(may, events []schema.EventType) error {
	for _, event := range events {
		if !slices.Contains(may, event) {
			return schema.UnreadableEvent("events", event)
		}
	}
	return nil
}

// chosen is a secret that a body may hold; "" when there is none. The empty
// text is a fault, not a wish for one that is made.
func (f *faults) chosen(secret *string) string {
	if secret == nil {
		return ""
	}
	if *secret == "" {
		f.secret("")
	}
	return *secret
}

// given is a value of a body that may be absent, and knows null from that.
type given[T any] struct {
	there, null bool
	value       T
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (g *given[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	g.there, g.null = true, d.PeekKind() == jsontext.KindNull
	return json.UnmarshalDecode(d, &g.value)
}

// in notes null as a fault, and reports whether there is a value.
func (g *given[T]) in(f *faults, field string) bool {
	if g.null {
		f.Add(field, "The "+field+" cannot be null; leave it out to keep it as it is.")
	}
	return g.there && !g.null
}

// patchOf reads the body of PATCH /v1/webhooks/{id}, with every fault of it.
func (b *Book) patchOf(c *httpapi.Call) (Patch, error) {
	if _, err := httpapi.Parameters(c.URL.RawQuery); err != nil {
		return Patch{}, err
	}
	wanted, err := httpapi.Decode[struct {
		URL    given[string]             `json:"url"`
		Events given[[]schema.EventType] `json:"events"`
		Active given[bool]               `json:"active"`
		Clear  given[bool]               `json:"clear_numbers"`
		Secret given[jsontext.Value]     `json:"secret"`
	}](c)
	if err != nil {
		return Patch{}, err
	}
	p := Patch{Readable: c.Scopes.Readable()}
	var f faults
	if wanted.URL.in(&f, "url") {
		p.URL = &wanted.URL.value
	}
	if wanted.Events.in(&f, "events") {
		p.Events = wanted.Events.value
	}
	if err := b.checkPatch(&f, &p); err != nil {
		return Patch{}, err
	}
	if wanted.Active.in(&f, "active") {
		p.Active = &wanted.Active.value
	}
	if wanted.Clear.in(&f, "clear_numbers") {
		p.ClearNumbers = &wanted.Clear.value
	}
	if wanted.Secret.there {
		f.Add("secret", "The secret is changed with POST "+path+"/{id}/rotate-secret.")
	}
	if !wanted.URL.there && !wanted.Events.there && !wanted.Active.there && !wanted.Clear.there && !wanted.Secret.there {
		f.Add("", "Give at least one of url, events, active and clear_numbers.")
	}
	return p, f.Problem()
}

// rotationOf reads the body of a rotation, which may be left out.
func rotationOf(c *httpapi.Call) (Rotation, error) {
	if _, err := httpapi.Parameters(c.URL.RawQuery); err != nil {
		return Rotation{}, err
	}
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
		const longest = int64(longestGrace / time.Second)
		n.Grace = time.Duration(max(-1, min(*wanted.GraceSeconds, longest+1))) * time.Second // more would overflow
	}
	n.Secret = f.chosen(wanted.Secret)
	n.check(&f)
	return n, f.Problem()
}

// testOf reads the body of a test, which may be left out; "" is for the
// subscription's first type.
func testOf(c *httpapi.Call) (schema.EventType, error) {
	if _, err := httpapi.Parameters(c.URL.RawQuery); err != nil {
		return "", err
	}
	wanted, err := httpapi.DecodeOptional[struct {
		Type *schema.EventType `json:"type"`
	}](c)
	if err != nil || wanted.Type == nil {
		return "", err
	}
	if !slices.Contains(schema.EventTypes, *wanted.Type) {
		return "", schema.Refuse(schema.UnknownEventType, "type", "There is no such type of event; the types are "+eventNames()+".")
	}
	return *wanted.Type, nil
}
