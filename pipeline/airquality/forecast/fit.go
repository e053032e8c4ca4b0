package forecast

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/schema"
	"vayu/schema/air"
)

// fitYears is how many years of data a fit reads.
const fitYears = 10

// Span is a range of Indian days, both included.
type Span struct{ First, Last schema.Day }

// allSlots returns the positions of all parameters in the column forecast_input.amounts, as an SQL array.
func allSlots() string {
	slots := make([]string, len(air.RecordPollutants))
	for i := range slots {
		slots[i] = strconv.Itoa(i + 1)
	}
	return "[" + strings.Join(slots, ",") + "]"
}

// prepare fills the table forecast_input with the days of a span, and with the time since which each day is known. If
// `ingested` is true, a day is known since its last reading was stored. Otherwise it is known since its end.
func (f *Forecaster) prepare(ctx context.Context, input string, days Span, ingested bool) error {
	text := f.sql.input
	if ingested {
		text = f.sql.ingestedInput
	}
	return f.exec(ctx, "input", text, clickhouse.Parameters{"input": input, "from": dayText(days.First), "to": dayText(days.Last)})
}

// fit fits the model for daily values to the days of an input (see prepare) that were known at the time `known`. It
// fits the parameters one by one, because the residuals of all together would need several gigabytes of memory.
func (f *Forecaster) fit(ctx context.Context, run, input string, days Span, known time.Time) error {
	recent := Span{First: max(days.First, days.Last-residualDays+1), Last: days.Last}
	texts, err := f.sql.fit(int(recent.Last-recent.First) + 1)
	if err != nil {
		return err
	}
	for slot := range air.RecordPollutants {
		p := clickhouse.Parameters{
			"run": run, "input": input, "fitted": instantText(known), "known": instantText(known), "first": dayText(days.First), "base": dayText(days.Last),
			"slots": "[" + strconv.Itoa(slot+1) + "]",
		}
		for i, what := range [...]string{"climatology", "coefficients", "residuals", "pooled residuals"} {
			if i > 0 {
				p["first"] = dayText(recent.First)
			}
			if err := f.exec(ctx, what+" of "+air.RecordPollutants[slot].String(), texts[i], p); err != nil {
				return err
			}
		}
	}
	return nil
}

// fitSpan returns the days that a fit reads: fitYears years up to and including the day `base`.
func fitSpan(base schema.Day) Span {
	return Span{First: base - fitYears*365, Last: base}
}
