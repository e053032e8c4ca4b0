package history

import (
	"fmt"

	"vayu/query/param"
	"vayu/schema"
)

// MaxDays is the largest number of days of a span that a client selects.
const MaxDays = 366

// ParseOptionalSpan parses the parameters "from" and "to". Without "to", the span ends on the Indian day `today`.
// Without "from", it has `days` days. The error is a *schema.Problem.
func ParseOptionalSpan(params map[string]string, days int, today schema.Day) (s Span, err error) {
	s.Last = today
	if text, ok := params["to"]; ok {
		if s.Last, err = param.Day("to", text); err != nil {
			return s, err
		}
	}
	s.First = s.Last - schema.Day(days) + 1
	if text, ok := params["from"]; ok {
		if s.First, err = param.Day("from", text); err != nil {
			return s, err
		}
	}
	switch {
	case s.Last > today:
		err = param.Invalid("to", "The range ends in the future (Indian time).")
	case s.First > s.Last:
		err = param.Invalid("from", "The range ends before it begins.")
	case s.Last-s.First >= MaxDays:
		err = param.Invalid("to", fmt.Sprintf("A range has at most %d days.", MaxDays))
	}
	return s, err
}
