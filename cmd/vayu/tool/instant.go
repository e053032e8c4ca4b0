package tool

import (
	"fmt"
	"time"

	"vayu/schema"
)

// ParseRange parses the flags --from and --to. Each is a time, or an Indian day: its start for --from, its end for --to.
func ParseRange(from, to string) (first, last time.Time, err error) {
	if first, err = schema.ParseInstant(from, schema.Day.Start); err != nil {
		return first, last, fmt.Errorf("--from: %w", err)
	}
	if last, err = schema.ParseInstant(to, schema.Day.End); err != nil {
		return first, last, fmt.Errorf("--to: %w", err)
	}
	if !first.Before(last) {
		return first, last, fmt.Errorf("--to %s is not after --from %s", to, from)
	}
	return first, last, nil
}
