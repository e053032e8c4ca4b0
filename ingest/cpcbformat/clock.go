package cpcbformat

import (
	"time"

	"vayu/schema"
)

// text is the content of a file (bytes) or of a decoded reply (string).
type text interface{ ~string | ~[]byte }

// ParseStamp parses a time of the live feed in Indian Standard Time. It accepts only the form "DD-MM-YYYY HH:MM:SS",
// because a time in another form may be in UTC.
func ParseStamp[T text](s T) (time.Time, bool) {
	if len(s) != len("DD-MM-YYYY HH:MM:SS") || s[2] != '-' || s[5] != '-' || s[10] != ' ' {
		return time.Time{}, false
	}
	return ParseTime(s)
}

// ParseUpdate parses the field last_update of data.gov.in, a time in Indian Standard Time. The portal writes
// "DD-MM-YYYY HH:MM:SS". Spreadsheets drop the seconds when they save a file. Programs write "YYYY-MM-DD HH:MM:SS" with
// a blank or T. ParseUpdate rejects a time with a zone, because the portal never writes a zone.
func ParseUpdate[T text](s T) (time.Time, bool) {
	s = trim(s)
	if n := len(s); n != len("DD-MM-YYYY HH:MM") && n != len("DD-MM-YYYY HH:MM:SS") || s[10] != ' ' && s[10] != 'T' {
		return time.Time{}, false
	}
	return ParseTime(s)
}

// ParseTime parses a time in CPCB's exports, in Indian Standard Time. The date is DD-MM-YYYY, DD-Mon-YYYY or
// YYYY-MM-DD, followed by blanks, " - " or "T". The time of day is HH:MM or HH:MM:SS, and 24:00 is the end of the day.
// ParseTime does not call time.Parse, which would take most of the time of an import.
func ParseTime[T text](s T) (time.Time, bool) {
	s = trim(s)
	day, n, ok := parseDate(s)
	if !ok {
		return time.Time{}, false
	}
	rest := s[n:]
	gap := 0
	for gap < len(rest) && (rest[gap] == ' ' || rest[gap] == '-' || (gap == 0 && rest[gap] == 'T')) {
		gap++
	}
	if gap == 0 || gap > 4 {
		return time.Time{}, false
	}
	second, ok := parseClock(rest[gap:])
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(day*86400+second-int64(schema.IndiaOffset/time.Second), 0).UTC(), true
}

// ParseDate parses a date in one of the forms of [ParseTime] and returns the first instant of that Indian day.
func ParseDate[T text](s T) (time.Time, bool) {
	s = trim(s)
	day, n, ok := parseDate(s)
	if !ok || n != len(s) {
		return time.Time{}, false
	}
	return schema.Day(day).Start(), true
}

func trim[T text](s T) T {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// parseDate returns the days since 1970, and n, the length of the date within the text.
func parseDate[T text](s T) (day int64, n int, ok bool) {
	var y, m, d int
	switch {
	case len(s) >= 10 && s[4] == '-' && s[7] == '-':
		y, m, d, n = number(s[:4]), number(s[5:7]), number(s[8:10]), 10
	case len(s) >= 10 && s[2] == '-' && s[5] == '-':
		d, m, y, n = number(s[:2]), number(s[3:5]), number(s[6:10]), 10
	case len(s) >= 11 && s[2] == '-' && s[6] == '-':
		d, m, y, n = number(s[:2]), month(s[3:6]), number(s[7:11]), 11
	default:
		return 0, 0, false
	}
	if y < 1 || m < 1 || m > 12 || d < 1 || d > daysIn(m, y) {
		return 0, 0, false
	}
	return civil(y, m, d), n, true
}

// parseClock parses HH:MM or HH:MM:SS as seconds of the day.
func parseClock[T text](s T) (int64, bool) {
	if (len(s) != 5 && len(s) != 8) || s[2] != ':' {
		return 0, false
	}
	h, m, sec := number(s[:2]), number(s[3:5]), 0
	if len(s) == 8 {
		if s[5] != ':' {
			return 0, false
		}
		sec = number(s[6:])
	}
	if h < 0 || m < 0 || sec < 0 || h > 24 || m > 59 || sec > 59 || (h == 24 && m+sec > 0) {
		return 0, false
	}
	return int64(h)*3600 + int64(m)*60 + int64(sec), true
}

// number parses digits. It returns -1 for anything else.
func number[T text](s T) int {
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return -1
		}
		n = n*10 + int(s[i]-'0')
	}
	return n
}

const monthNames = "janfebmaraprmayjunjulaugsepoctnovdec"

func month[T text](s T) int {
	for m := range 12 {
		name := monthNames[3*m : 3*m+3]
		if s[0]|0x20 == name[0] && s[1]|0x20 == name[1] && s[2]|0x20 == name[2] {
			return m + 1
		}
	}
	return -1
}

func daysIn(m, y int) int {
	switch m {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// civil returns the days from 1 January 1970 to a Gregorian date. It counts years
// from March, so that the leap day comes last.
func civil(y, m, d int) int64 {
	if m <= 2 {
		y--
		m += 12
	}
	era := y / 400
	yearOfEra := y % 400
	dayOfYear := (153*(m-3)+2)/5 + d - 1
	dayOfEra := yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear
	return int64(era)*146097 + int64(dayOfEra) - 719468
}
