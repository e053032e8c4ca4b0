// Package cpcbformat implements the formats of India's regulatory network of automatic stations. The Central Pollution
// Control Board (CPCB) runs the network with the boards of the states. The package covers station names, attribution,
// times, and the live feed. It rejects a feed in which the AQI of too many stations differs from the AQI that the
// package computes from their sub-indices. Several sources have the same stations, and a station has the same id in all
// of them.
package cpcbformat

import (
	"strings"

	"vayu/schema/air"
	"vayu/schema/gazetteer"
)

// NetworkID is the prefix of every station id of the network.
const NetworkID = "cpcb"

// Owner is the required attribution of the network's data.
const Owner = "Central Pollution Control Board (CPCB)"

// Licence is the licence of India's government data: Government Open Data
// License – India, Gazette of India, 10 February 2017.
const Licence = "GODL-India"

// Station returns the station with CPCB's name `name`, e.g. "Anand Vihar, Delhi - DPCC". If city is "", Station takes
// the city from the name. The position is in WGS 84 degrees; 0, 0 if unknown.
func Station(name, city, state string, latitude, longitude float64) air.Station {
	name = air.CleanPlace(name)
	s := air.Station{
		ID: air.StationID(NetworkID, name), Name: name, City: city, State: state,
		Latitude: latitude, Longitude: longitude,
		Kind: air.Reference, Attribution: Owner, Licence: Licence,
	}
	named, agency, ok := Split(name)
	if ok {
		// Canonicalise the city in the id: "R K Puram, New Delhi - DPCC" becomes "R K Puram, Delhi - DPCC".
		if canonical, _ := gazetteer.Canonical(named, state); canonical != named {
			s.ID = air.StationID(NetworkID, strings.TrimSuffix(name, named+" - "+agency)+canonical+" - "+agency)
		}
	}
	if ok && strings.TrimSpace(city) == "" {
		s.City = named
	}
	if ok && !strings.EqualFold(agency, NetworkID) {
		s.Attribution = Owner + "; " + agency
	}
	return s
}

// Split splits a station's name of the form "PLACE, CITY - AGENCY". All 603 known names of CPCB's network have this
// form. Split reports false for any other name. Such a name belongs to another network.
func Split(name string) (city, agency string, ok bool) {
	i := strings.LastIndex(name, " - ")
	if i < 0 {
		return "", "", false
	}
	place := name[:i]
	comma := strings.LastIndexByte(place, ',')
	if comma < 0 {
		return "", "", false
	}
	city, agency = strings.TrimSpace(place[comma+1:]), strings.TrimSpace(name[i+3:])
	if strings.TrimSpace(place[:comma]) == "" || city == "" || agency == "" || air.Slug(place[:comma]) == "" {
		return "", "", false
	}
	return city, agency, true
}
