package query

import (
	"time"

	"vayu/schema"
)

const (
	// hourWait is how long after its end an hour waits for readings of the stations
	// that the previous hour has. Then it becomes current in any case.
	hourWait = 30 * time.Minute
	// hourReach is the maximum distance of two hours that are compared, in seconds.
	hourReach = 24 * 3600
)

// cityHour is an hour of a city and the number of its stations with an AQI.
type cityHour struct {
	at   uint32
	used uint16
}

// complete reports whether h has at least half as many stations as the hour before.
// It is also true if that hour is more than a day older.
func complete(before, h cityHour) bool {
	return h.at > before.at+hourReach || 2*int(h.used) >= int(before.used)
}

// currentHour returns the index of the hour whose figures are current, and when a
// later one becomes current, Unix seconds; 0 for never. hours are in time order.
func currentHour(hours []cityHour, now time.Time) (current int, next int64) {
	for i := 1; i < len(hours); i++ {
		due := int64(hours[i].at) + int64(hourWait/time.Second)
		switch {
		case due <= now.Unix() || complete(hours[current], hours[i]):
			current, next = i, 0
		case next == 0:
			next = due
		}
	}
	return current, next
}

// hourOfDay returns the index of the hour that represents a day. hours are in time
// order, and those from first on are of the day. It is the last hour with at least
// half as many stations as the hour before. Without one it is the last of the hours
// with the most stations.
func hourOfDay(hours []cityHour, first int) int {
	most := first
	for i := len(hours) - 1; i >= first; i-- {
		if i == 0 || complete(hours[i-1], hours[i]) {
			return i
		}
		if hours[i].used > hours[most].used {
			most = i
		}
	}
	return most
}

// hoursOfDays returns the hour that represents each day, beginning with a day.
func hoursOfDays(hours []cityHour, from schema.Day) []uint32 {
	var out []uint32
	for start := 0; start < len(hours); {
		day, end := schema.DayOf(instant(hours[start].at)), start+1
		for end < len(hours) && schema.DayOf(instant(hours[end].at)) == day {
			end++
		}
		if day >= from {
			out = append(out, hours[hourOfDay(hours[:end], start)].at)
		}
		start = end
	}
	return out
}
