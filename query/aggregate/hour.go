package aggregate

import (
	"time"

	"vayu/schema"
)

const (
	// HourWait is how long after its end an hour with too few stations (see the function `complete`) becomes current.
	// Other hours become current at their end.
	HourWait = 30 * time.Minute
	// HourReach is the largest time, in seconds, between two hours whose numbers of stations are compared.
	HourReach = 24 * 3600
)

// CityHour is an hour of a city. At is its end in Unix seconds. Used is the number of stations with an AQI in the hour.
type CityHour struct {
	At   uint32
	Used uint16
}

// complete reports whether hour h has enough stations to be current: at least half as many as the earlier hour
// `before`. It also returns true if h ends more than a day after `before`.
func complete(before, h CityHour) bool {
	return h.At > before.At+HourReach || 2*int(h.Used) >= int(before.Used)
}

// CurrentHour returns the index of the hour whose figures are current. `hours` are in time order.
// `next` is the time at which a later hour becomes current, in Unix seconds. It is 0 if there is no
// later hour.
func CurrentHour(hours []CityHour, now time.Time) (current int, next int64) {
	for i := 1; i < len(hours); i++ {
		due := int64(hours[i].At) + int64(HourWait/time.Second)
		switch {
		case due <= now.Unix() || complete(hours[current], hours[i]):
			current, next = i, 0
		case next == 0:
			next = due
		}
	}
	return current, next
}

// hourOfDay returns the index of the hour that represents a day: the last complete hour of the day. If no hour is
// complete, it is the hour with the most stations. `hours` are in time order. Those from the index `first` to the end
// are the hours of the day. hours[0] counts as complete.
func hourOfDay(hours []CityHour, first int) int {
	most := first
	for i := len(hours) - 1; i >= first; i-- {
		if i == 0 || complete(hours[i-1], hours[i]) {
			return i
		}
		if hours[i].Used > hours[most].Used {
			most = i
		}
	}
	return most
}

// HoursOfDays returns, for each day in `hours`, the end of the hour that represents it. It omits days before `from`.
func HoursOfDays(hours []CityHour, from schema.Day) []uint32 {
	var out []uint32
	for start := 0; start < len(hours); {
		day, end := schema.DayOf(Instant(hours[start].At)), start+1
		for end < len(hours) && schema.DayOf(Instant(hours[end].At)) == day {
			end++
		}
		if day >= from {
			out = append(out, hours[hourOfDay(hours[:end], start)].At)
		}
		start = end
	}
	return out
}
