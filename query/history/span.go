package history

import (
	"fmt"
	"time"

	"vayu/schema"
)

// MaxDays is the largest number of days of a span that a client selects.
const MaxDays = 366

// ParseSpan returns the span of days of the parameters from and to. Without to, it ends today, which is an Indian day.
// Without from, it has the given number of days. Its error is a *schema.Problem.
func ParseSpan(params map[string]string, days int, today schema.Day) (s Span, err error) {
	s.Last = today
	if text, ok := params["to"]; ok {
		if s.Last, err = parseDay("to", text); err != nil {
			return s, err
		}
	}
	s.First = s.Last - schema.Day(days) + 1
	if text, ok := params["from"]; ok {
		if s.First, err = parseDay("from", text); err != nil {
			return s, err
		}
	}
	switch {
	case s.Last > today:
		err = invalid("to", "The range ends in the future (Indian time).")
	case s.First > s.Last:
		err = invalid("from", "The range ends before it begins.")
	case s.Last-s.First >= MaxDays:
		err = invalid("to", fmt.Sprintf("A range has at most %d days.", MaxDays))
	}
	return s, err
}

func parseDay(name, text string) (schema.Day, error) {
	day, err := schema.ParseDay(text)
	if err != nil || len(text) != len(time.DateOnly) {
		return 0, invalid(name, "The parameter "+name+" must be an existing date, as YYYY-MM-DD.")
	}
	return day, nil
}

func invalid(field, message string) error {
	return schema.NewProblem(schema.InvalidRequest, field, message)
}
