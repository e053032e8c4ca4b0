package ingest

import (
	"time"

	"vayu/schema/air"
	"vayu/schema/gazetteer"
	"vayu/schema/naqi"
)

// Bulletin adds the AQI that an agency published for a city and a day, and fills in City, State and Source. If a
// bulletin violates the rules of [CheckBulletin], Bulletin counts it as rejected instead.
func (b *Builder) Bulletin(one air.Bulletin) {
	one.Name = air.CleanPlace(one.Name)
	if reason := CheckBulletin(&one, b.now); reason != None {
		b.RejectField(reason, "bulletin")
		return
	}
	one.Source = b.source
	one.City, one.State = gazetteer.Canonical(one.Name, one.State)
	b.batch.Bulletins = append(b.batch.Bulletins, one)
	if len(b.batch.Bulletins) >= batchMissing && !b.positioned && b.err == nil {
		b.err = b.flush()
	}
}

// mostIndex is the largest value of the National AQI.
const mostIndex = 500

// CheckBulletin returns the reason for rejecting a bulletin, or [None]. The category must match the index, as in all
// 87,746 city-days of CPCB's bulletins of 2024.
func CheckBulletin(b *air.Bulletin, now time.Time) Reason {
	switch {
	case b.Name == "":
		return NoStation
	case b.AQI < 0 || b.AQI > mostIndex:
		return OutOfRange
	case b.Category != naqi.Category(b.AQI), b.StationsUsed < 0, b.StationsTotal > 0 && b.StationsUsed > b.StationsTotal:
		return GateFailed
	}
	return checkTime(b.Until(), now)
}
