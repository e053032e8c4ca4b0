package subscription

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"vayu/schema"
)

const (
	// Most is the maximum number of subscriptions of an account in each world (live,
	// sandbox), unless Limits are lower.
	Most = 10_000
	// DefaultGrace is the grace period of a rotation if the request has none.
	DefaultGrace = 24 * time.Hour
	maxGrace     = 7 * 24 * time.Hour
)

// Limits of the length of secrets that clients choose. Many forms and files of receivers
// take at most 255 characters.
const (
	minSecret = 8
	maxSecret = 255
)

// faults collects all errors of a request.
type faults struct{ schema.RequestErrors }

// url returns the normalised URL. It adds a *schema.Problem of Check to the errors of the request,
// and returns any other error.
func (b *Cache) url(f *faults, text string) (string, error) {
	u, err := b.Check(text)
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
	switch {
	case len(events) == 0:
		f.Add("events", "Name at least one type of event; the types are "+eventNames()+".")
		return nil
	case len(events) > len(schema.EventTypes):
		f.Add("events", "Name each type of event once: there are "+strconv.Itoa(len(schema.EventTypes))+", and these are more.")
		return nil
	}
	for i, event := range events {
		field := "events." + strconv.Itoa(i)
		switch {
		case event == "*":
			f.AddAs(schema.UnknownEventType, field, "There is no type that stands for all; name each of "+eventNames()+".")
		case !slices.Contains(schema.EventTypes, event):
			f.AddAs(schema.UnknownEventType, field, "There is no such type of event; the types are "+eventNames()+".")
		case slices.Contains(events[:i], event):
			f.Add(field, "The type "+string(event)+" is there twice.")
		}
	}
	return slices.DeleteFunc(slices.Clone(schema.EventTypes), func(e schema.EventType) bool { return !slices.Contains(events, e) })
}

func eventNames() string { return joinEvents(schema.EventTypes, ", ") }

func joinEvents(events []schema.EventType, between string) string {
	var b strings.Builder
	for i, event := range events {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(string(event))
	}
	return b.String()
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
		f.Add("secret", "A secret has 8 to 255 printable ASCII characters without blanks; leave it out for one that is made.")
	}
	return text
}

func (f *faults) grace(d time.Duration) {
	if d < 0 || d > maxGrace {
		f.Add("grace_seconds", "The grace lies between 0 and 604800 seconds (7 days).")
	}
}
