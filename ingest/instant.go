package ingest

import (
	"fmt"
	"time"

	"vayu/schema"
)

// ParseInstant parses a time in RFC 3339, or a day. `end` returns the instant that a day stands for: its start or its
// end.
func ParseInstant(text string, end func(schema.Day) time.Time) (time.Time, error) {
	if day, err := schema.ParseDay(text); err == nil {
		return end(day), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("%q is neither a day YYYY-MM-DD nor a time such as 2026-01-31T15:00:00+05:30", text)
	}
	return t.UTC(), nil
}

// ParseRange parses the values of the flags --from and --to. Each is a time or an Indian day. A day means its start for
// --from, and its end for --to.
func ParseRange(from, to string) (first, last time.Time, err error) {
	if first, err = ParseInstant(from, schema.Day.Start); err != nil {
		return first, last, fmt.Errorf("--from: %w", err)
	}
	if last, err = ParseInstant(to, schema.Day.End); err != nil {
		return first, last, fmt.Errorf("--to: %w", err)
	}
	if !first.Before(last) {
		return first, last, fmt.Errorf("--to %s is not after --from %s", to, from)
	}
	return first, last, nil
}
