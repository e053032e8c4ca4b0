package cpcbformat

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"vayu/schema/air"
	"vayu/schema/gazetteer"
)

// agencies are the agencies whose names do not end in PCB, PCBA or PCC, in lower case. Names of several words belong
// to companies that have stations at their own factories.
var agencies = []string{
	"iitm", "imd", "cecb", "bmc", "imc", "jmc", "dmc", "smc", "ntpc", "mhua", "nexteng enviro", "birla cement",
	"bhilai steel plant", "nandesari ind. association", "ntpc unchahar", "mondelez ind. food", "ambuja cements",
	"kjs cements", "ipca lab", "glenmark",
}

// ParseLooseName returns the station whose name is given without punctuation, as in file names: "Anand Vihar Delhi
// DPCC" is "Anand Vihar, Delhi - DPCC". A city or state may follow the agency ("… DPCC Delhi"). ParseLooseName returns
// false if the place, a known city or the agency is missing, or if other words follow the agency.
func ParseLooseName(words string) (air.Station, bool) {
	fields := strings.Fields(words)
	begin, end, ok := findAgency(fields)
	if !ok || end < len(fields) && !afterAgency(strings.Join(fields[end:], " "), "") {
		return air.Station{}, false
	}
	for size := min(3, begin-1); size > 0; size-- {
		city := strings.Join(fields[begin-size:begin], " ")
		if isCity(city) {
			place, agency := strings.Join(fields[:begin-size], " "), strings.Join(fields[begin:end], " ")
			return stationFromParts(place, city, agency), true
		}
	}
	return air.Station{}, false
}

// isCity reports whether a text is a name of a city, without its state.
func isCity(text string) bool {
	key := gazetteer.Key(text)
	same := func(name string) bool { return gazetteer.Key(name) == key }
	return slices.ContainsFunc(gazetteer.Lookup(text), func(c gazetteer.City) bool {
		return same(c.Name) || slices.ContainsFunc(c.Aliases, same)
	})
}

// stationFromParts makes a station from the parts of its name. If all parts are in lower
// case, as in a file name, it capitalises them.
func stationFromParts(place, city, agency string) air.Station {
	if strings.ToLower(place+city+agency) == place+city+agency {
		place, city, agency = capitals(place), capitals(city), strings.ToUpper(agency)
	}
	return Station(place+", "+city+" - "+agency, "", "", 0, 0)
}

func capitals(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		r := []rune(w)
		r[0] = unicode.ToUpper(r[0])
		words[i] = string(r)
	}
	return strings.Join(words, " ")
}

// findAgency returns the range of the words of the last agency in a name. At least two words precede the agency: the
// place and the city.
func findAgency(fields []string) (begin, end int, ok bool) {
	for end = len(fields); end > 2; end-- {
		for size := min(3, end-2); size > 0; size-- {
			text := strings.ToLower(strings.Join(fields[end-size:end], " "))
			if slices.Contains(agencies, text) {
				return end - size, end, true
			}
		}
		last := strings.ToLower(fields[end-1])
		switch {
		case (last == "pcb" || last == "spcb") && end > 3: // a state and its board, such as "Kerala PCB"
			return end - 2, end, true
		case isBoard(last):
			return end - 1, end, true
		}
	}
	return 0, 0, false
}

// isBoard reports whether a word is the name of a pollution control board or committee: CPCB, MPCB, DPCC, PCBA.
func isBoard(word string) bool {
	word = strings.ToLower(word)
	return len(word) > 3 && (strings.HasSuffix(word, "pcb") || strings.HasSuffix(word, "pcc")) || word == "pcba"
}

// states are the states and union territories that may follow the agency in a
// station's name. They are in lower case without blanks.
var states = []string{
	"andhrapradesh", "arunachalpradesh", "assam", "bihar", "chandigarh", "chhattisgarh", "delhi", "goa", "gujarat",
	"haryana", "himachalpradesh", "jammuandkashmir", "jharkhand", "karnataka", "kerala", "ladakh", "madhyapradesh",
	"maharashtra", "manipur", "meghalaya", "mizoram", "nagaland", "odisha", "puducherry", "punjab", "rajasthan",
	"sikkim", "tamilnadu", "telangana", "tripura", "uttarpradesh", "uttarakhand", "westbengal",
}

// afterAgency reports whether `text` is `city` or a known city, or ends in a state. `city` is the city in the station's
// name, or "". Some tables repeat the city or state after the agency: "Chennai, Tamil Nadu".
func afterAgency(text, city string) bool {
	key := gazetteer.Key(text)
	ends := func(state string) bool { return strings.HasSuffix(key, state) }
	return slices.ContainsFunc(states, ends) || city != "" && key == gazetteer.Key(city) || len(gazetteer.Lookup(text)) > 0
}

// NormalizeName converts a station's name from tables of other publishers than CPCB to the form of [Split]. It adds a
// missing blank after the hyphen ("Ballygunge, Kolkata -WBPCB"). It removes a city or state after the agency
// ("Maninagar, Ahmedabad - GPCB Ahmedabad").
func NormalizeName(name string) string {
	name = air.CleanPlace(name)
	if i := strings.LastIndex(name, " -"); i >= 0 && i+2 < len(name) && name[i+2] != ' ' && strings.Contains(name[:i], ",") {
		name = name[:i] + " - " + name[i+2:]
	}
	city, agency, ok := Split(name)
	if !ok {
		if i := strings.Index(name, " - "); i < 0 || !strings.Contains(name[:i], ",") {
			return name
		}
	}
	first, rest, more := strings.Cut(strings.ReplaceAll(agency, ",", " "), " ")
	if !more || !isBoard(first) && !slices.Contains(agencies, strings.ToLower(first)) || !afterAgency(rest, city) {
		return name
	}
	return strings.TrimSuffix(name, agency) + first
}

// Period parses the averaging interval in names of CPCB's files. Examples are 15 Min,
// 1 Hr, 8 Hrs and 1 Day. It returns 0 for other texts.
func Period(number, unit string) time.Duration {
	n, err := strconv.Atoi(number)
	if err != nil || n <= 0 || n > 1440 {
		return 0
	}
	switch strings.ToLower(unit) {
	case "min":
		return time.Duration(n) * time.Minute
	case "hr", "hrs":
		return time.Duration(n) * time.Hour
	case "day":
		return time.Duration(n) * 24 * time.Hour
	}
	return 0
}
