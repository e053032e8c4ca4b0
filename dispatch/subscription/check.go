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
	// Most is how many subscriptions an account may have in each world if Limits does
	// not say less.
	Most = 10_000
	// DefaultGrace is how long the secret before a rotation signs when nobody says
	// otherwise, and longestGrace the longest that can be asked for (CONTRACT 6).
	DefaultGrace = 24 * time.Hour
	longestGrace = 7 * 24 * time.Hour
)

// A secret that clients choose: short enough for any setting, long enough that
// it is not guessed at once. 255 is the longest of many forms and files.
const (
	shortestSecret = 8
	longestSecret  = 255
)

// faults are all that is wrong with one request. Whoever asks over HTTP hears them
// before there is a transaction, in which others would wait for it; and what is to
// be stored is checked in it in any case.
type faults struct{ schema.Faults }

// checkSpec brings a subscription that is asked for into the form of the store.
// The error is one of the judge of URLs, and no *schema.Problem.
func (b *Book) checkSpec(f *faults, s *Spec) (err error) {
	if len(f.Faults) == 0 || f.Faults[0].Field != "url" { // it was not even there
		if s.URL, err = b.url(f, s.URL); err != nil {
			return err
		}
	}
	s.Events = f.events(s.Events)
	if s.Secret != "" {
		f.secret(s.Secret)
	}
	return nil
}

// checkPatch is checkSpec for a change.
func (b *Book) checkPatch(f *faults, p *Patch) error {
	if p.URL != nil {
		url, err := b.url(f, *p.URL)
		if err != nil {
			return err
		}
		p.URL = &url
	}
	if p.Events != nil {
		p.Events = f.events(p.Events)
	}
	return nil
}

// url returns the URL in the form in which it was judged. An error that is no
// *schema.Problem is one of the judge.
func (b *Book) url(f *faults, text string) (string, error) {
	u, err := b.Check(text)
	if said, ok := errors.AsType[*schema.Problem](err); ok {
		f.AddAs(said.Code, "url", said.Message)
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

// events returns the types in the order of schema.EventTypes.
func (f *faults) events(asked []schema.EventType) []schema.EventType {
	switch {
	case len(asked) == 0:
		f.Add("events", "Name at least one type of event; the types are "+eventNames()+".")
		return nil
	case len(asked) > len(schema.EventTypes):
		f.Add("events", "Name each type of event once: there are "+strconv.Itoa(len(schema.EventTypes))+", and these are more.")
		return nil
	}
	for i, event := range asked {
		field := "events." + strconv.Itoa(i)
		switch {
		case event == "*":
			f.AddAs(schema.UnknownEventType, field, "There is no type that stands for all; name each of "+eventNames()+".")
		case !slices.Contains(schema.EventTypes, event):
			f.AddAs(schema.UnknownEventType, field, "There is no such type of event; the types are "+eventNames()+".")
		case slices.Contains(asked[:i], event):
			f.Add(field, "The type "+string(event)+" is there twice.")
		}
	}
	return slices.DeleteFunc(slices.Clone(schema.EventTypes), func(e schema.EventType) bool { return !slices.Contains(asked, e) })
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

// secret judges a secret that somebody chose; its faults do not repeat it.
func (f *faults) secret(text string) {
	strange := strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
	if strange || len(text) < shortestSecret || len(text) > longestSecret {
		f.Add("secret", "A secret has 8 to 255 printable ASCII characters without blanks; leave it out for one that is made.")
	}
}

func (f *faults) grace(d time.Duration) {
	if d < 0 || d > longestGrace {
		f.Add("grace_seconds", "The grace lies between 0 and 604800 seconds (7 days).")
	}
}
