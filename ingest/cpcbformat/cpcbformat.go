// Package cpcbformat knows India's regulatory network of automatic stations,
// which the Central Pollution Control Board (CPCB) runs with the states'
// boards: how its stations are named, whom to credit, how it writes times, and
// the live feed with its own cross-check. Several sources carry the same
// stations, and one analyser must keep one identity in all of them.
package cpcbformat

import (
	"strings"

	"vayu/schema"
	"vayu/schema/gazetteer"
)

// ID is the prefix of the identity of every station of the network.
const ID = "cpcb"

// Owner is whom every use of the network's data credits.
const Owner = "Central Pollution Control Board (CPCB)"

// Licence is the licence of India's government data: Government Open Data
// License – India, Gazette of India, 10 February 2017.
const Licence = "GODL-India"

// Station describes a station of the network by the name that CPCB gives it,
// e.g. "Anand Vihar, Delhi - DPCC". An empty city is read from the name. The
// position is in WGS 84 degrees, 0, 0 when unknown.
func Station(name, city, state string, latitude, longitude float64) schema.Station {
	name = schema.CleanPlace(name)
	s := schema.Station{
		ID: schema.StationID(ID, name), Name: name, City: city, State: state,
		Latitude: latitude, Longitude: longitude,
		Kind: schema.Reference, Attribution: Owner, Licence: Licence,
	}
	named, agency, ok := Split(name)
	if ok {
		// "R K Puram, New Delhi - DPCC" is "R K Puram, Delhi - DPCC".
		if canonical, _ := gazetteer.Canonical(named, state); canonical != named {
			s.ID = schema.StationID(ID, strings.TrimSuffix(name, named+" - "+agency)+canonical+" - "+agency)
		}
	}
	if ok && strings.TrimSpace(city) == "" {
		s.City = named
	}
	if ok && !strings.EqualFold(agency, ID) {
		s.Attribution = Owner + "; " + agency
	}
	return s
}

// Split takes a station's name in the network's form, "PLACE, CITY - AGENCY",
// apart. It reports false for a name in another form: such a station belongs to
// another network. In the names of all 603 stations seen the form holds.
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
	if strings.TrimSpace(place[:comma]) == "" || city == "" || agency == "" || schema.Slug(place[:comma]) == "" {
		return "", "", false
	}
	return city, agency, true
}
