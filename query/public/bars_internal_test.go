package public

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"vayu/schema"
)

var timeLabel = regexp.MustCompile(`<text x="([0-9.]+)" y="[0-9]+" text-anchor="middle">`)

// A date such as "30 Nov" is 53 pixels wide in the font of a chart.
func TestTimesOfChartAreInsideAndApart(t *testing.T) {
	t.Parallel()
	for days, end := range map[int]time.Time{
		1: time.Date(2026, 11, 30, 18, 0, 0, 0, schema.India),
		7: time.Date(2026, 12, 1, 0, 0, 0, 0, schema.India),
	} {
		before := -100.0
		for _, label := range timeLabel.FindAllStringSubmatch(drawBars("Delhi", end, days, []hour{{Hour: end, AQI: 100}}), -1) {
			x, err := strconv.ParseFloat(label[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			if x < 27 || x > 480-27 || x-before < 54 {
				t.Errorf("%d days: a time has its middle at %.1f of 480 pixels, the one before at %.1f", days, x, before)
			}
			before = x
		}
		if before < 400 {
			t.Errorf("%d days: the last time is at %.1f", days, before)
		}
	}
}
