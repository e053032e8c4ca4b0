package cpcbformat

import (
	"time"

	"vayu/ingest"
	"vayu/schema"
	"vayu/schema/parameter"
)

// SubIndex makes a reading from a value of the live feed or of data.gov.in. Times
// come from [ParseStamp] or [ParseUpdate]. The average is a sub-index 0–500,
// although data.gov.in calls it a value. p and at are zero if they could not be
// parsed. It returns the reason if there is no reading. For [ingest.MissingValue]
// only the value is missing, see [ingest.Builder.Missing].
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
