package tracing

// Key is the name of a span attribute. Spans have only the attributes that are listed here.
type Key string

// The attributes of spans.
const (
	Method     Key = "http.request.method"
	Route      Key = "http.route" // template of the path, with ids in braces
	Status     Key = "http.response.status_code"
	Request    Key = "vayu.request" // X-Request-Id
	World      Key = "vayu.world"   // live or sandbox
	Event      Key = "vayu.event"   // evt_…
	EventType  Key = "vayu.event.type"
	Delivery   Key = "vayu.delivery" // dlv_…
	Number     Key = "vayu.attempt"  // number of the attempt, from 1
	Stage      Key = "vayu.stage"    // dns, connect, tls, write, wait, status
	Provider   Key = "vayu.provider" // configured name of the provider
	Call       Key = "vayu.call"     // kind of call: submit, enquire, deposit …
	Result     Key = "vayu.result"   // result of a call to a provider
	Subject    Key = "vayu.subject"  // id of a recharge or a verification
	Operation  Key = "db.operation.name"
	System     Key = "db.system.name"
	Partitions Key = "vayu.partitions"
)
