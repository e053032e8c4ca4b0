package tracing

// Key is the name of a span attribute. Spans have no other attributes.
type Key string

// The attributes of spans.
const (
	Method     Key = "http.request.method"
	Route      Key = "http.route" // the template, with ids in braces
	Status     Key = "http.response.status_code"
	Request    Key = "vayu.request" // X-Request-Id
	World      Key = "vayu.world"   // live or sandbox
	Event      Key = "vayu.event"   // evt_…
	EventType  Key = "vayu.event.type"
	Delivery   Key = "vayu.delivery" // dlv_…
	Number     Key = "vayu.attempt"  // from 1
	Stage      Key = "vayu.stage"    // dns, connect, tls, write, wait, status
	Provider   Key = "vayu.provider" // name in the settings
	Call       Key = "vayu.call"     // submit, enquire, deposit …
	Result     Key = "vayu.result"   // of a call
	Subject    Key = "vayu.subject"  // txn_… or ver_…
	Operation  Key = "db.operation.name"
	System     Key = "db.system.name"
	Partitions Key = "vayu.partitions"
)
