package public

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"vayu/schema"
)

var timeLabel = regexp.MustCompile(`<text x="([0-9.]+)" y="[0-9]+" text-anchor="middle">`)

// A time at the right end of a chart must not be cut.
func TestTimesOfChartAreInside(t *testing.T) {
	t.Parallel()
	for days, end := range map[int]time.Time{
		1: time.Date(2026, 11, 30, 18, 0, 0, 0, schema.India),
		7: time.Date(2026, 12, 1, 0, 0, 0, 0, schema.India),
	} {
		labels := timeLabel.FindAllStringSubmatch(drawBars("Delhi", end, days, []hour{{Hour: end, AQI: 100}}), -1)
		if len(labels) < days {
			t.Errorf("%d days: %d times", days, len(labels))
		}
		for _, label := range labels {
			if x, err := strconv.ParseFloat(label[1], 64); err != nil || x > barsWidth-barsTickRoom {
				t.Errorf("%d days: a time has its middle at %s of %d pixels", days, label[1], barsWidth)
			}
		}
	}
}
