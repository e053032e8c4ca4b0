package loader_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/ingest/loader"
	"vayu/schema/air"
)

func TestStationIsKeptUpToDate(t *testing.T) {
	t.Parallel()
	changed := func(change func(*air.Station)) air.Station {
		s := station("a")
		change(&s)
		return s
	}
	in := func(city, state string) air.Station { // by its names only
		return changed(func(s *air.Station) { s.City, s.State, s.Latitude, s.Longitude = city, state, 0, 0 })
	}
	pune := in("Pune", "Maharashtra")
	hour := func(n int) time.Time { return now.Add(time.Duration(n-100) * time.Hour) }
	type step struct {
		described air.Station
		at        time.Time
		rejected  ingest.Rejections
	}
	far := changed(func(s *air.Station) { s.Latitude = 18.62 }) // 11 km
	for _, c := range []struct {
		name  string
		steps []step
		want  air.Station // first and last seen are those of the steps
	}{
		{"seen again", []step{{station("a"), hour(1), nil}, {station("a"), hour(2), nil}}, station("a")},
		{
			"renamed by a newer description",
			[]step{{station("a"), hour(1), nil}, {changed(func(s *air.Station) { s.Name, s.Attribution = "new", "CPCB" }), hour(2), nil}},
			changed(func(s *air.Station) { s.Name, s.Attribution = "new", "CPCB" }),
		},
		{
			"an older description completes and renames nothing",
			[]step{{changed(func(s *air.Station) { s.Licence = "" }), hour(2), nil}, {changed(func(s *air.Station) { s.Name = "old" }), hour(1), nil}},
			station("a"),
		},
		{
			"a newer description without a position keeps it",
			[]step{{station("a"), hour(1), nil}, {changed(func(s *air.Station) { s.Latitude, s.Longitude = 0, 0 }), hour(2), nil}},
			station("a"),
		},
		{
			"a position that was missing is taken from an older description too",
			[]step{{changed(func(s *air.Station) { s.Latitude, s.Longitude = 0, 0 }), hour(2), nil}, {station("a"), hour(1), nil}},
			station("a"),
		},
		{
			"a street further",
			[]step{{station("a"), hour(1), nil}, {changed(func(s *air.Station) { s.Latitude = 18.53 }), hour(2), nil}},
			changed(func(s *air.Station) { s.Latitude = 18.53 }),
		},
		{
			"a position decides the city",
			[]step{{changed(func(s *air.Station) { s.City, s.State = "", "" }), hour(1), nil}},
			changed(func(s *air.Station) { s.ByPosition = true }),
		},
		{
			"a position decides the city against a wrong name",
			[]step{{changed(func(s *air.Station) { s.City, s.State = "Delhi", "Delhi" }), hour(1), nil}},
			changed(func(s *air.Station) { s.ByPosition = true }),
		},
		{
			"a jump is refused and counted each time",
			[]step{{station("a"), hour(1), nil}, {far, hour(2), ingest.Rejections{ingest.StationMoved: 1}}, {far, hour(3), ingest.Rejections{ingest.StationMoved: 1}}},
			station("a"),
		},
		{
			"a newer description without a state does not move the station to another city",
			[]step{{pune, hour(1), nil}, {in("Aurangabad", ""), hour(2), nil}},
			pune,
		},
		{
			"nor does an older one",
			[]step{{pune, hour(2), nil}, {in("Aurangabad", ""), hour(1), nil}},
			pune,
		},
		{
			"a newer description with a state completes one without",
			[]step{{in("Aurangabad", ""), hour(1), nil}, {in("Aurangabad", "Bihar"), hour(2), nil}},
			in("Aurangabad", "Bihar"),
		},
		{
			"and so does an older one",
			[]step{{in("Nowhere", ""), hour(2), nil}, {in("Aurangabad", "Bihar"), hour(1), nil}},
			in("Aurangabad", "Bihar"),
		},
		{
			"a newer description with city and state moves both",
			[]step{{pune, hour(1), nil}, {in("Aurangabad", "Maharashtra"), hour(2), nil}},
			in("Aurangabad", "Maharashtra"),
		},
		{
			"a state alone does not part a city from its own",
			[]step{{pune, hour(1), nil}, {in("", "Bihar"), hour(2), nil}},
			pune,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn, name := database(t)
			c.want.Source, c.want.FirstSeen, c.want.LastSeen = "test", now, time.Time{}
			for _, again := range []bool{false, true} { // with one loader, then with a new one per step
				l := loader.New(conn, name)
				for _, s := range c.steps {
					if again {
						l = loader.New(conn, name)
					}
					b := batchOf(t, "test", s.described, concentration(air.PM25, s.at, 50))
					if err := l.Load(t.Context(), b); err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(s.rejected, b.Rejected); !again && diff != "" {
						t.Errorf("rejected (-want +got):\n%s", diff)
					}
					if s.at.Before(c.want.FirstSeen) {
						c.want.FirstSeen = s.at
					}
					if s.at.After(c.want.LastSeen) {
						c.want.LastSeen = s.at
					}
				}
				if c.want.Located() {
					c.want.PositionSource = "test"
				}
				if diff := cmp.Diff(c.want, storedStation(t, conn, name)); diff != "" {
					t.Errorf("station (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestUnchangedStationIsNotWrittenAgain(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	l := loader.New(conn, name)
	for range 3 {
		if err := l.Load(t.Context(), batchOf(t, "test", station("a"), concentration(air.PM25, now, 50))); err != nil {
			t.Fatal(err)
		}
	}
	if got := count(t, conn, "SELECT count() FROM "+name+".station"); got != 1 {
		t.Errorf("%d rows of one station that never changed, want 1", got)
	}
}

// The row of a station with a reading each minute is written once an hour. Its last_seen is less than an hour old, also
// after a restart.
func TestLastSeenIsWrittenOnceAnHour(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	l := loader.New(conn, name)
	const minutes = 180
	for m := range minutes {
		at := now.Add(time.Duration(m-minutes) * time.Minute)
		if err := l.Load(t.Context(), batchOf(t, "test", station("a"), concentration(air.PM25, at, 50))); err != nil {
			t.Fatal(err)
		}
		if m == minutes/2 {
			l = loader.New(conn, name)
		}
		if m%30 == 29 {
			if late := at.Sub(storedStation(t, conn, name).LastSeen); late < 0 || late >= time.Hour {
				t.Errorf("after %d minutes: last_seen is %s behind, want less than an hour", m, late)
			}
		}
	}
	got := count(t, conn, "SELECT uniqExact(last_seen) FROM "+name+".station")
	if want := 1 + minutes/60; got > want {
		t.Errorf("got %d written rows in three hours, want at most %d", got, want)
	}
}

// A change of the description is written at once.
func TestChangeWithinTheHourIsWritten(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	l := loader.New(conn, name)
	for m, text := range []string{"old", "new"} {
		s := station("a")
		s.Name = text
		if err := l.Load(t.Context(), batchOf(t, "test", s, concentration(air.PM25, now.Add(time.Duration(m-5)*time.Minute), 50))); err != nil {
			t.Fatal(err)
		}
	}
	if got := storedStation(t, conn, name).Name; got != "new" {
		t.Errorf("got the name %q, want the new one", got)
	}
}
