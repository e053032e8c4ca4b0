package outbox

import (
	"strings"

	"github.com/oklog/ulid/v2"
)

// subjectPrefixes are the prefixes of ids that can be subjects of events: recharges, verifications, payments, two kinds
// of batches, alerts and webhooks. A ULID follows each prefix.
var subjectPrefixes = [...]string{"txn_", "ver_", "pay_", "rbt_", "bat_", "alt_", "wh_"}

// subjectOf returns the subject of an event from its data: the result of the method Subject, or "" if there is no such
// method.
func subjectOf(data any) string {
	if about, ok := data.(interface{ Subject() string }); ok {
		return about.Subject()
	}
	return ""
}

// isSubject reports whether a text is a valid subject.
func isSubject(text string) bool {
	for _, prefix := range subjectPrefixes {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			_, err := ulid.ParseStrict(rest)
			return err == nil && rest == strings.ToUpper(rest)
		}
	}
	return false
}
