package station

import "vayu/schema"

// Reasons has texts for error messages about stations that do not count. For each condition, the text is about a
// station that does not meet it.
var Reasons = map[schema.Condition]string{
	schema.ThreePollutants: "it measures fewer than three pollutants of the index",
	schema.OnePM:           "it measures neither PM2.5 nor PM10",
	schema.SixteenHours:    "a pollutant has fewer than 16 of the last 24 hours",
	schema.CountedKind:     "its kind counts only when kinds names it",
	schema.Recent:          "its last reading is more than 24 hours old",
	schema.Within100KM:     "it is more than 100 km away",
	schema.InPeriod:        "it has no index in the requested period",
}
