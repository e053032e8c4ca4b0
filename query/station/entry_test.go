package station_test

import (
	"testing"
	"time"

	"vayu/query/aggregate"
	"vayu/query/station"
	"vayu/schema/air"
)

// The row of a station may be behind its figures, and figures of the past are behind the row.
func TestLastSeenIsTheLaterOfRowAndFigures(t *testing.T) {
	t.Parallel()
	row := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct{ updated, want time.Time }{
		"newer figures": {row.Add(50 * time.Minute), row.Add(50 * time.Minute)},
		"older figures": {row.Add(-time.Hour), row},
		"no figures":    {time.Unix(0, 0), row},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := aggregate.NoFigures()
			f.Updated = uint32(c.updated.Unix())
			if got := station.Entry(&air.Station{LastSeen: row}, &f, row).LastSeen; !got.Equal(c.want) {
				t.Errorf("got last_seen %s, want %s", got, c.want)
			}
		})
	}
}
