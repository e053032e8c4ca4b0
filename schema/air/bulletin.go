package air

import (
	"time"

	"vayu/schema"
	"vayu/schema/parameter"
)

// Bulletin is the AQI that an agency published for a city and a day. CPCB's bulletin has the mean of the 24 hours until
// 16:00 Indian time, over the stations of the city. A bulletin is stored unchanged, and no other value is computed from
// it.
type Bulletin struct {
	Day      schema.Day // day of the bulletin
	Name     string     // name of the city, as the bulletin spells it
	City     string     // canonical name
	State    string     // "" if the name is ambiguous
	AQI      int        // 0-500
	Category string     // such as "Very Poor"
	// Prominent are the pollutants with the largest sub-index, as published.
	Prominent     []parameter.Parameter
	StationsUsed  int // number of stations from which the AQI was computed
	StationsTotal int // number of stations of the city; 0 if unknown
	Source        string
}

// bulletinHour is the time of day, in India, at which the 24 hours of a bulletin end: "4 PM" in CPCB's bulletins.
const bulletinHour = 16 * time.Hour

// Until returns the end of the 24 hours that the bulletin covers.
func (b *Bulletin) Until() time.Time { return b.Day.Start().Add(bulletinHour) }
