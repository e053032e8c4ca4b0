package cpcbformat

import (
	"time"

	"vayu/ingest"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// SubIndex makes a reading from a value of the live feed or of data.gov.in. `average` is a sub-index (0–500) in both
// sources. p and `at` are zero if the caller could not parse them. If no reading can be made, SubIndex returns the
// reason. [ingest.MissingValue] means that everything except the value is valid, see [ingest.Builder.Missing].
func SubIndex(p parameter.Parameter, at time.Time, average string) (air.Reading, ingest.Reason) {
	if !p.Indexed() {
		return air.Reading{}, ingest.UnknownPollutant
	}
	if at.IsZero() {
		return air.Reading{}, ingest.BadTime
	}
	v, reason := ingest.ParseValue(average)
	return air.Reading{Parameter: p, At: at, Value: v, Kind: air.SubIndex, Averaging: air.Hourly}, reason
}
