package outbox

import (
	"strings"

	"github.com/oklog/ulid/v2"
)

// subjectPrefixes begin the ids of what events are about, and a ULID ends them:
// recharges, verifications, payments, and batches of the first two.
var subjectPrefixes = [...]string{"txn_", "ver_", "pay_", "rbt_", "bat_"}

// subjectOf is the id of what data is about; "" for data that does not say.
func subjectOf(data any) string {
	if about, ok := data.(interface{ Subject() string }); ok {
		return about.Subject()
	}
	return ""
}

// isSubject reports whether a text can be the subject of an event.
func isSubject(text string) bool {
	for _, prefix := range subjectPrefixes {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			_, err := ulid.ParseStrict(rest)
			return err == nil && rest == strings.ToUpper(rest)
		}
	}
	return false
}
