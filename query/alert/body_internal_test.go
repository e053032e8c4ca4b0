package alert

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/schema"
)

// An interval below a second would be stored as 0, which means no limit.
func TestMinimumIntervalIsInWholeSeconds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{`"30m"`: 1800, `3600`: 3600, `"500ms"`: -1, `"1500ms"`: -1} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			var f faults
			got := f.interval(optional[jsontext.Value]{present: true, value: jsontext.Value(text)})
			problem, failed := errors.AsType[*schema.Problem](f.Problem())
			switch {
			case want < 0 && (!failed || problem.Field != "minimum_interval"):
				t.Errorf("got %v, want a problem of minimum_interval", problem)
			case want >= 0 && (failed || got != want):
				t.Errorf("got %d, %v, want %d", got, problem, want)
			}
		})
	}
}
