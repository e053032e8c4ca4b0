package evaluation_test

import (
	"testing"
	"time"

	"vayu/query/aggregate"
	"vayu/query/alert/evaluation"
)

// lagging returns an instance with air of its own, which may be older than that of the fixture.
func (f *fixture) lagging(m *moment) (*evaluation.Evaluator, *fakeAir) {
	own := &fakeAir{past: make(map[string]map[uint32]int)}
	own.restore(m)
	return evaluation.New(evaluation.Config{DB: f.db, Air: own, Events: f.events, Now: func() time.Time { return f.now }}), own
}

// A new leader whose air of a place is older changes nothing, although its air of another place is as new.
func TestNewLeaderWithOlderAirWaits(t *testing.T) {
	t.Parallel()
	publication := func(n int64) aggregate.Publication { return aggregate.Publication{RolledUp: start.UnixMilli() + n} }
	for name, row := range map[string]struct {
		older, newer *moment
		before       *moment // evaluated first; nil for none
		want         []string
	}{
		"crossing": {
			older: &moment{publication(1), map[string]cityHour{"Pune": {at(1), 100}, "Delhi": {at(0), 250}}},
			newer: &moment{publication(2), map[string]cityHour{"Pune": {at(1), 100}, "Delhi": {at(1), 310}}},
			want:  []string{"Delhi triggered 310 crossed"},
		},
		"recovery": {
			before: &moment{publication(0), map[string]cityHour{"Delhi": {at(0), 310}}},
			older:  &moment{publication(1), map[string]cityHour{"Pune": {at(1), 100}, "Delhi": {at(0), 310}}},
			newer:  &moment{publication(2), map[string]cityHour{"Pune": {at(1), 100}, "Delhi": {at(1), 250}}},
			want:   []string{"Delhi triggered 310 crossed", "Delhi resolved 250 recovered"},
		},
		"correction": {
			before: &moment{publication(0), map[string]cityHour{"Delhi": {at(1), 310}}},
			older:  &moment{publication(0), map[string]cityHour{"Delhi": {at(1), 310}}},
			newer:  &moment{publication(1), map[string]cityHour{"Delhi": {at(1), 290}}},
			want:   []string{"Delhi triggered 310 crossed", "Delhi resolved 290 corrected"},
		},
		"roll-up in progress": {
			older: &moment{publication(1), map[string]cityHour{"Delhi": {at(1), 250}}},
			newer: &moment{publication(1), map[string]cityHour{"Delhi": {at(1), 310}}},
			want:  []string{"Delhi triggered 310 crossed"},
		},
		"promotion": {
			older: &moment{aggregate.Publication{RolledUp: 1}, map[string]cityHour{"Pune": {at(1), 100}, "Delhi": {at(0), 250}}},
			newer: &moment{aggregate.Publication{RolledUp: 1, Promoted: at(1)}, map[string]cityHour{"Pune": {at(1), 100}, "Delhi": {at(1), 310}}},
			want:  []string{"Delhi triggered 310 crossed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, f *fixture) {
				f.add(t, delhi)
				f.now = start.Add(80 * time.Minute)
				for _, m := range []*moment{row.before, row.newer} {
					if m != nil {
						f.air.restore(m)
						f.refresh(t)
					}
				}
				other, own := f.lagging(row.older)
				for range 2 { // the second is that of the clock
					if err := other.Refresh(t.Context()); err != nil {
						t.Fatal(err)
					}
					f.now = f.now.Add(2 * time.Minute)
				}
				own.restore(row.newer)
				if err := other.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				want(t, f, row.want...)
			})
		})
	}
}

// A frozen leader that read its air during a roll-up changes nothing, although it reads the new state.
func TestFrozenLeaderWithAirOfARollUpInProgress(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.add(t, delhi)
		f.now = start.Add(80 * time.Minute)
		before := &moment{aggregate.Publication{RolledUp: 1}, map[string]cityHour{"Delhi": {at(1), 250}}}
		frozen, own := f.lagging(before)
		if err := frozen.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.air.restore(&moment{before.publication, map[string]cityHour{"Delhi": {at(1), 310}}})
		f.refresh(t)
		for _, aqi := range []int{320, 250, 250} { // the first change fails, because the version has changed
			own.restore(&moment{before.publication, map[string]cityHour{"Delhi": {at(1), aqi}}})
			f.now = f.now.Add(2 * time.Minute)
			if err := frozen.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		want(t, f, "Delhi triggered 310 crossed")
	})
}

// A frozen leader whose air is older changes nothing, although it reads the new state.
func TestFrozenLeaderWithOlderAirChangesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.add(t, delhi)
		f.add(t, `{"place":{"city":"Delhi"},"condition":{"metric":"aqi","under":300},"quiet_hours":{"from":"12:00","to":"13:00"}}`)
		f.now = start.Add(20 * time.Minute)
		older := &moment{aggregate.Publication{RolledUp: 1}, map[string]cityHour{"Pune": {at(0), 100}, "Delhi": {at(0), 250}}}
		frozen, _ := f.lagging(older)
		if err := frozen.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.air.restore(&moment{aggregate.Publication{RolledUp: 2}, map[string]cityHour{"Pune": {at(0), 100}, "Delhi": {at(0), 310}}})
		f.refresh(t)
		for range 3 {
			f.now = f.now.Add(time.Hour)
			if err := frozen.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		want(t, f, "Delhi triggered 310 crossed")
	})
}
