// Package webhook signs deliveries and verifies them. A receiver written in Go
// needs nothing else of Vayu.
package webhook

import "time"

// Header is the name of the header that carries signatures.
const Header = "X-SERVICE-Signature"

// Sign returns the value of the header for a body: t=…,v1=… with one v1 for each
// secret (spec 5.4).
func Sign(body []byte, at time.Time, secrets ...string) string { panic("not written yet") }
