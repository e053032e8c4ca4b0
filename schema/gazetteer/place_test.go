package gazetteer_test

import (
	"strconv"
	"testing"

	"vayu/schema/air"
	"vayu/schema/gazetteer"
	"vayu/schema/geo"
)

func TestLocate(t *testing.T) {
	t.Parallel()
	at := func(lat, lon float64) geo.Point { return geo.Point{Latitude: lat, Longitude: lon} }
	nowhere := geo.Point{}
	delhi, pune, thar := at(28.63, 77.22), at(18.52, 73.86), at(27.6, 71.3)
	for _, c := range []struct {
		name        string
		city, state string
		position    geo.Point
		official    bool
		want        gazetteer.Place
	}{
		{"no name, in a city", "", "", delhi, false, gazetteer.Place{City: "Delhi", State: "Delhi", ByPosition: true}},
		{"no name, in no city", "", "", thar, false, gazetteer.Place{State: "Rajasthan", ByPosition: true}},
		{"no name, no position", "", "", nowhere, false, gazetteer.Place{}},
		{"name without a position", "Gurgaon", "", nowhere, false, gazetteer.Place{City: "Gurugram", State: "Haryana"}},
		{"name confirmed", "Pune", "", pune, false, gazetteer.Place{City: "Pune", State: "Maharashtra"}},
		{"name of the city beside", "Pimpri-Chinchwad", "", pune, false, gazetteer.Place{City: "Pimpri-Chinchwad", State: "Maharashtra"}},
		{"wrong name", "Pune", "", delhi, false, gazetteer.Place{City: "Delhi", State: "Delhi", ByPosition: true}},
		{"wrong position of CPCB's network", "Pune", "Maharashtra", delhi, true, gazetteer.Place{City: "Pune", State: "Maharashtra"}},
		{"quarter of a city", "Connaught Place", "", delhi, false, gazetteer.Place{City: "Delhi", State: "Delhi", ByPosition: true}},
		{"new city of CPCB's network", "Newtown", "", pune, true, gazetteer.Place{City: "Newtown", State: "Maharashtra"}},
		{"unknown name in no city", "Pokaran", "", thar, false, gazetteer.Place{City: "Pokaran", State: "Rajasthan"}},
		{"known city of another state", "Pune", "", thar, false, gazetteer.Place{City: "Pune", State: "Maharashtra"}},
		{"homonym", "Aurangabad", "", at(24.75, 84.37), false, gazetteer.Place{City: "Aurangabad", State: "Bihar"}},
		{"position abroad", "", "Goa", at(51.5, -0.1), false, gazetteer.Place{State: "Goa"}},
		{"city of two states, west", "", "", at(26.053, 91.868), false, gazetteer.Place{City: "Byrnihat", State: "Meghalaya", ByPosition: true}},
		{"city of two states, named", "Byrnihat", "Assam", at(26.071, 91.875), true, gazetteer.Place{City: "Byrnihat", State: "Meghalaya"}},
		{"Port Blair", "", "", at(11.66, 92.73), false, gazetteer.Place{City: "Sri Vijaya Puram", State: "Andaman and Nicobar Islands", ByPosition: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := gazetteer.Locate(c.city, c.state, c.position, c.official)
			if got != c.want {
				t.Errorf("Locate(%q, %q, %v, %v) = %+v, want %+v", c.city, c.state, c.position, c.official, got, c.want)
			}
			if again := gazetteer.Locate(got.City, got.State, c.position, c.official); again.City != got.City || again.State != got.State {
				t.Errorf("Locate of its own result = %+v, want %+v", again, got)
			}
		})
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]geo.Point{
		"Ladakh": {Latitude: 34.16, Longitude: 77.58}, "Jammu and Kashmir": {Latitude: 34.08, Longitude: 74.8},
		"Puducherry": {Latitude: 11.93, Longitude: 79.8}, "Tamil Nadu": {Latitude: 13.08, Longitude: 80.27},
		"Telangana": {Latitude: 17.4, Longitude: 78.5}, "Andhra Pradesh": {Latitude: 16.5, Longitude: 80.63},
		"Chandigarh": {Latitude: 30.74, Longitude: 76.78}, "Uttarakhand": {Latitude: 30.32, Longitude: 78.03},
		"Dadra and Nagar Haveli and Daman and Diu": {Latitude: 20.27, Longitude: 73.0}, "Odisha": {Latitude: 20.3, Longitude: 85.82},
		"Sikkim": {Latitude: 27.33, Longitude: 88.61}, "Lakshadweep": {Latitude: 10.56, Longitude: 72.64},
		"": {Latitude: 15, Longitude: 90}, // Bay of Bengal
	} {
		stateIs(t, p, want)
	}
	// The Survey of India has Gilgit in Ladakh, and Muzaffarabad, Mirpur and Keran in Jammu and Kashmir.
	stateIs(t, geo.Point{Latitude: 35.92, Longitude: 74.31}, "Ladakh")
	for _, p := range []geo.Point{{Latitude: 34.37, Longitude: 73.47}, {Latitude: 33.15, Longitude: 73.75}, {Latitude: 34.66, Longitude: 73.96}} {
		stateIs(t, p, "Jammu and Kashmir")
	}
}

func stateIs(t *testing.T, p geo.Point, want string) {
	t.Helper()
	if got, ok := gazetteer.State(p); got != want || ok != (want != "") {
		t.Errorf("State(%v) = %q, %v, want %q", p, got, ok, want)
	}
}

// Every outline has a canonical state name and contains the stations that CPCB
// assigns to the state.
func TestRealStationsLieInTheirStates(t *testing.T) {
	t.Parallel()
	other, located := 0, 0
	for _, row := range readShared(t, "stations.csv") {
		lat, _ := strconv.ParseFloat(row["latitude"], 64)
		lon, _ := strconv.ParseFloat(row["longitude"], 64)
		p := geo.Point{Latitude: lat, Longitude: lon}
		if !geo.InIndia(lat, lon) {
			continue
		}
		located++
		state := air.CleanState(row["state"])
		if got, _ := gazetteer.State(p); got != state {
			other++
			t.Logf("%s of %s lies in %s", row["station"], state, got)
		}
		city, wantState := gazetteer.Canonical(row["city"], row["state"])
		if got := gazetteer.Locate(row["city"], row["state"], p, true); got.City != city || got.State != wantState {
			t.Errorf("%s counts for %+v, want %s, %s", row["station"], got, city, wantState)
		}
	}
	if located != 594 || other > 1 {
		t.Errorf("%d of %d stations lie in another state, want at most 1 of 594", other, located)
	}
}

// A position without names gives CPCB's city for nearly all stations. The others
// lie between two cities.
func TestPositionsAloneFindTheCity(t *testing.T) {
	t.Parallel()
	right, wrong, none := 0, 0, 0
	for _, row := range readShared(t, "stations.csv") {
		lat, _ := strconv.ParseFloat(row["latitude"], 64)
		lon, _ := strconv.ParseFloat(row["longitude"], 64)
		if !geo.InIndia(lat, lon) {
			continue
		}
		city, _ := gazetteer.Canonical(row["city"], row["state"])
		switch got := gazetteer.Locate("", "", geo.Point{Latitude: lat, Longitude: lon}, false); got.City {
		case city:
			right++
		case "":
			none++
		default:
			wrong++
		}
	}
	if right < 560 || wrong > 30 || none > 3 {
		t.Errorf("%d right, %d of a city beside, %d in none", right, wrong, none)
	}
}

func BenchmarkLocate(b *testing.B) {
	p := geo.Point{Latitude: 25.6, Longitude: 85.1} // three states' boxes overlap here
	gazetteer.Locate("", "", p, false)              // reads the files
	for b.Loop() {
		gazetteer.Locate("", "", p, false)
	}
}
