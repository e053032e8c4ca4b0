package subscription

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"vayu/schema"
)

const (
	// Most is the maximum number of subscriptions of an account in each world (live, sandbox). [Limits] can be lower.
	Most = 10_000
	// DefaultGrace is the grace period of a rotation if the request has none.
	DefaultGrace = 24 * time.Hour
	maxGrace     = 7 * 24 * time.Hour
)

// Least and greatest length of a secret that a client chooses, in bytes. Many receivers store at most 255.
const (
	minSecret = 8
	maxSecret = 255
)

// faults collects all errors in a request.
type faults struct{ schema.RequestErrors }

// url validates and normalises a URL. If Check returns a *schema.Problem, url adds it to f and returns no error. It
// returns any other error of Check.
func (cache *Cache) url(f *faults, text string) (string, error) {
	u, err := cache.Check(text)
	if problem, ok := errors.AsType[*schema.Problem](err); ok {
		f.AddAs(problem.Code, "url", problem.Message)
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

// events validates the event types and returns them in the order of schema.EventTypes.
func (f *faults) events(events []schema.EventType) []schema.EventType {
	if len(events) == 0 {
		f.Add("events", "Send at least one event type.")
	}
	if len(events) > len(schema.EventTypes) {
		f.Add("events", "There are more entries than the "+strconv.Itoa(len(schema.EventTypes))+" event types. Send each type once.")
		return nil
	}
	for i, event := range events {
		field := "events." + strconv.Itoa(i)
		switch {
		case event == "*":
			f.AddAs(schema.UnknownEventType, field, "There is no wildcard. Send each type by its name: "+schema.Join(schema.EventTypes, ", ")+".")
		case !slices.Contains(schema.EventTypes, event):
			f.AddAs(schema.UnknownEventType, field, unknownEvent(event))
		case slices.Contains(events[:i], event):
			f.Add(field, "The type "+string(event)+" occurs more than once.")
		}
	}
	return slices.DeleteFunc(slices.Clone(schema.EventTypes), func(e schema.EventType) bool { return !slices.Contains(events, e) })
}

// unknownEvent returns the message about an unknown event type. It quotes at most 64 characters of the type.
func unknownEvent(event schema.EventType) string {
	return fmt.Sprintf("There is no event type %.64q. The reference at /docs lists all types.", event)
}

// secret returns the secret that a client has chosen; "" for nil. The error message for an invalid
// secret does not contain the secret.
func (f *faults) secret(chosen *string) string {
	if chosen == nil {
		return ""
	}
	text := *chosen
	strange := strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
	if strange || len(text) < minSecret || len(text) > maxSecret {
		f.Add("secret", "The secret must have 8 to 255 printable ASCII characters without blanks. Omit it to generate one.")
	}
	return text
}

func (f *faults) grace(d time.Duration) {
	if d < 0 || d > maxGrace {
		f.Add("grace_seconds", "The grace period must be between 0 and 604800 seconds (7 days).")
	}
}
