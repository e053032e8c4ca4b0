package cpcbformat

import (
	"time"

	"vayu/ingest"
	"vayu/schema"
	"vayu/schema/parameter"
)

// SubIndex makes a reading of a figure of the live feed or of data.gov.in: the
// pollutant, the time ([ParseStamp], [ParseUpdate]) and the average, which is a
// sub-index 0–500 although data.gov.in calls it a value. A pollutant or time that
// could not be read is zero. It returns the reason when there is no reading; with
// [ingest.MissingValue] the reading is complete but for its value, as
// [ingest.Builder.Missing] takes it.
func SubIndex(p parameter.Parameter, at time.Time, average string) (schema.Reading, ingest.Reason) {
	if !p.Indexed() {
		return schema.Reading{}, ingest.UnknownPollutant
	}
	if at.IsZero() {
		return schema.Reading{}, ingest.BadTime
	}
	v, reason := ingest.ParseValue(average)
	return schema.Reading{Parameter: p, At: at, Value: v, Kind: schema.SubIndex, Averaging: schema.Hourly}, reason
}
