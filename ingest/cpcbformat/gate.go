package cpcbformat

import (
	"fmt"
	"strconv"

	"vayu/ingest"
)

// gatePercent is how many of a feed's stations may differ from CPCB's own AQI.
// In a full capture none of 469 did, and the 25 that CPCB refused we refused; a
// feed whose columns have changed their meaning differs nearly everywhere.
const gatePercent = 2

// gate computes every station's AQI from the feed's sub-indices and compares
// it with the AQI in the feed. A station without one must be one to which the
// National AQI gives none.
func gate(stations []feedStation) error {
	differ, example := 0, ""
	for i := range stations {
		s := &stations[i]
		ours, _, ok := s.index()
		text := "none"
		if ok {
			text = strconv.Itoa(ours)
		}
		theirs := s.value
		if theirs == "" || theirs == "NA" {
			theirs = "none"
		}
		if text == theirs {
			continue
		}
		if differ++; example == "" {
			example = fmt.Sprintf("%q: %s here, %q in the feed", s.name, text, s.value)
		}
	}
	if differ*100 > gatePercent*len(stations) {
		return &ingest.BatchError{Reason: ingest.GateFailed, Detail: fmt.Sprintf(
			"the AQI of %d of %d stations differs from the feed's own, e.g. %s", differ, len(stations), example)}
	}
	return nil
}
