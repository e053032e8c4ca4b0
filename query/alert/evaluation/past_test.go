package evaluation_test

import (
	"fmt"
	"testing"
	"time"

	"vayu/query/aggregate"
)

func cityAlert(city string) string {
	return fmt.Sprintf(`{"place":{"city":%q},"condition":{"metric":"aqi","over":300}}`, city)
}

// A publication is evaluated while hours of triggered alerts are read.
func TestCorrectionsDoNotDelayEvents(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.add(t, delhi)
		f.hour(t, 0, map[string]int{"Delhi": 310})
		f.hour(t, 1, map[string]int{"Delhi": 320})
		f.now = f.now.Add(10 * time.Minute)
		f.air.gate, f.air.reading = make(chan struct{}), make(chan struct{}, 1)
		f.air.publish(2, map[string]int{"Delhi": 320})
		if err := f.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- f.Recheck(t.Context()) }()
		<-f.air.reading
		f.air.publish(3, map[string]int{"Delhi": 290})
		if err := f.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		want(t, f, "Delhi triggered 310 crossed", "Delhi resolved 290 recovered")
		close(f.air.gate)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		want(t, f, "Delhi triggered 310 crossed", "Delhi resolved 290 recovered")
	})
}

// One call compares some places. The comparison goes on with the next call, and begins again after five minutes.
func TestRecheckIsBounded(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		aqi := make(map[string]int)
		for n := range 25 {
			city := fmt.Sprint("city ", n)
			aqi[city] = 310
			f.add(t, cityAlert(city))
		}
		f.hour(t, 0, aqi)
		f.hour(t, 1, aqi)
		for range 3 {
			f.refresh(t)
		}
		f.air.reads = nil
		f.now = f.now.Add(10 * time.Minute)
		f.air.publish(2, aqi)
		if err := f.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, reads := range []int{10, 20, 25, 25} {
			if err := f.Recheck(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := len(f.air.reads); got != reads {
				t.Errorf("got %d reads, want %d", got, reads)
			}
		}
	})
}

// A place whose hours cannot be read is compared later, and does not affect the others.
func TestFailedRecheckAffectsOnePlace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.add(t, delhi)
		f.add(t, cityAlert("Pune"))
		f.hour(t, 0, map[string]int{"Delhi": 310, "Pune": 310})
		f.air.fails = map[string]bool{"Delhi": true}
		f.air.publish(1, map[string]int{"Delhi": 320, "Pune": 320})
		f.air.past["Delhi"][at(0)], f.air.past["Pune"][at(0)] = 200, 200
		f.air.past["Delhi"][at(1)], f.air.past["Pune"][at(1)] = 200, 200
		f.now = f.now.Add(time.Hour)
		if err := f.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := f.Recheck(t.Context()); err == nil {
			t.Error("got no error, want that of Delhi")
		}
		want(t, f, "Delhi triggered 310 crossed", "Pune triggered 310 crossed", "Pune resolved 200 corrected")
		if err := f.Recheck(t.Context()); err != nil {
			t.Errorf("the failed place is compared again at once: %v", err)
		}
	})
}

// A place whose missed hours cannot be read is evaluated later, and does not affect the others.
func TestFailedCatchUpAffectsOnePlace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.add(t, delhi)
		f.add(t, cityAlert("Pune"))
		f.hour(t, 0, map[string]int{"Delhi": 250, "Pune": 250})
		f.restart()
		f.air.publish(1, map[string]int{"Delhi": 310, "Pune": 250})
		f.air.publish(2, map[string]int{"Delhi": 290, "Pune": 310})
		f.air.fails = map[string]bool{"Delhi": true}
		f.now = start.Add(3 * time.Hour)
		for range 3 {
			if err := f.Refresh(t.Context()); err == nil {
				t.Error("got no error, want that of Delhi")
			}
		}
		want(t, f, "Pune triggered 310 crossed")
		if got := len(f.air.reads); got != 2 {
			t.Errorf("got %d reads of missed hours, want 2: a failed one is not repeated at once", got)
		}
		f.restart()
		f.air.fails = nil
		f.refresh(t)
		want(t, f, "Pune triggered 310 crossed", "Delhi triggered 310 crossed", "Delhi resolved 290 recovered")
	})
}

// Missed hours say nothing about the age of the data.
func TestCatchUpLeavesOutAges(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.add(t, `{"place":{"city":"Delhi"},"condition":{"metric":"age","over":3600}}`)
		f.hour(t, 0, map[string]int{"Delhi": 250})
		f.restart()
		for hour := range 5 {
			f.air.publish(hour, map[string]int{"Delhi": 250})
		}
		f.now = start.Add(4*time.Hour + 20*time.Minute)
		f.refresh(t)
		want(t, f)
	})
}

// The missed hours of a place whose hours become current later than those of others are evaluated, too.
func TestMissedHoursOfPlacesThatLag(t *testing.T) {
	t.Parallel()
	lagging := func(n int64, delhi, aqi int) *moment {
		return &moment{aggregate.Publication{RolledUp: n}, map[string]cityHour{"Pune": {at(2), 100}, "Delhi": {at(delhi), aqi}}}
	}
	for name, restart := range map[string]bool{"restart": true, "same leader": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, f *fixture) {
				f.add(t, delhi)
				f.add(t, cityAlert("Pune"))
				f.now = start.Add(140 * time.Minute)
				f.air.restore(lagging(1, 0, 250))
				f.refresh(t)
				if restart {
					f.restart()
				}
				f.air.restore(lagging(2, 1, 310)) // not evaluated
				f.air.restore(lagging(3, 2, 290))
				f.refresh(t)
				want(t, f, "Delhi triggered 310 crossed", "Delhi resolved 290 recovered")
				f.restart()
				f.refresh(t)
				want(t, f, "Delhi triggered 310 crossed", "Delhi resolved 290 recovered")
			})
		})
	}
}
