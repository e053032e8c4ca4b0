package network

import (
	"vayu/ingest"
	"vayu/schema"
)

// SubIndex reads a figure of the live feed or of data.gov.in: the pollutant,
// the time ([ParseStamp]) and the average, which is a sub-index 0–500 although
// data.gov.in calls it a value. It returns the reason when there is none.
func SubIndex(pollutant, stamp, average string) (schema.Reading, ingest.Reason) {
	p, ok := schema.ParsePollutant(pollutant)
	if !ok {
		return schema.Reading{}, ingest.UnknownPollutant
	}
	at, ok := ParseStamp(stamp)
	if !ok {
		return schema.Reading{}, ingest.BadTime
	}
	v, reason := ingest.ParseValue(average)
	if reason != ingest.None {
		return schema.Reading{}, reason
	}
	return schema.Reading{Pollutant: p, At: at, Value: v, Kind: schema.SubIndex, Averaging: schema.Hourly}, ingest.None
}
