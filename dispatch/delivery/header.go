package delivery

import (
	"net/http"
	"strconv"

	"vayu/schema"
)

// These are the headers of an attempt except the signature. Names are sent in exactly this case.
const (
	headerEvent    = "X-SERVICE-Event-Id"
	headerDelivery = "X-SERVICE-Delivery-Id"
	headerAttempt  = "X-SERVICE-Attempt"
	headerMode     = "X-SERVICE-Mode"
)

var (
	contentType = []string{"application/json"}
	userAgent   = []string{"Vayu-Webhooks/1"}
	sandboxMode = []string{schema.Sandbox.String()}
)

// Header returns the header of an attempt, without the signature. `number` is the number of the attempt, from 1. The
// values are shared with other headers and read-only.
func Header(event, id string, number int, world schema.World) http.Header {
	// The values share one backing array, which saves allocations.
	values := [...]string{event, id, strconv.Itoa(number)}
	header := http.Header{
		"Content-Type": contentType, "User-Agent": userAgent,
		headerEvent: values[0:1:1], headerDelivery: values[1:2:2], headerAttempt: values[2:3:3],
	}
	if world == schema.Sandbox {
		header[headerMode] = sandboxMode
	}
	return header
}
