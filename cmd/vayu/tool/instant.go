package tool

import (
	"fmt"
	"time"

	"vayu/schema"
)

// ParseInstant parses a time or a day. The parameter end converts a day to a time: the day's start or its end.
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
