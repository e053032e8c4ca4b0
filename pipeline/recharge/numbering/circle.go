package numbering

import (
	"slices"
	"strings"
)

// circle is one of the licensed service areas of the Department of
// Telecommunications.
type circle struct {
	name, code string
	aliases    []string
}

// circles are the 22 licensed service areas, with aliases for states that were created after the
// areas. Telangana, Jharkhand and Chhattisgarh belong to the areas of their former states, and Goa
// to Maharashtra. Chennai was merged into Tamil Nadu in 2007. Sikkim and the Andaman Islands are in
// West Bengal.
var circles = []circle{
	{"Andhra Pradesh & Telangana", "AP", []string{"Andhra Pradesh", "Telangana", "AP & TS", "APTS", "TS", "Hyderabad"}},
	{"Assam", "AS", nil},
	{"Bihar & Jharkhand", "BR", []string{"Bihar", "Jharkhand", "BH", "JH"}},
	{"Delhi", "DL", []string{"Delhi NCR", "NCR", "New Delhi", "Delhi & NCR"}},
	{"Gujarat", "GJ", []string{"GU"}},
	{"Haryana", "HR", nil},
	{"Himachal Pradesh", "HP", []string{"Himachal"}},
	{"Jammu & Kashmir", "JK", []string{"J & K", "Ladakh", "Jammu & Kashmir & Ladakh"}},
	{"Karnataka", "KA", []string{"KK"}},
	{"Kerala", "KL", []string{"Kerala & Lakshadweep", "Lakshadweep", "KE"}},
	{"Kolkata", "KO", []string{"Calcutta", "CK", "WB Kolkata"}},
	{"Madhya Pradesh & Chhattisgarh", "MP", []string{"Madhya Pradesh", "Chhattisgarh", "Chattisgarh", "MPCG", "CG"}},
	{"Maharashtra & Goa", "MH", []string{"Maharashtra", "Goa", "GA", "Rest of Maharashtra"}},
	{"Mumbai", "MU", []string{"Bombay", "MB"}},
	{"North East", "NE", []string{"NESA", "North Eastern", "Northeast States"}},
	{"Odisha", "OR", []string{"Orissa", "OD"}},
	{"Punjab", "PB", []string{"PU"}},
	{"Rajasthan", "RJ", []string{"RA"}},
	{"Tamil Nadu", "TN", []string{"Chennai", "CH", "CN", "Madras", "Tamil Nadu & Chennai", "Puducherry", "Rest of Tamil Nadu"}},
	{"UP East", "UE", []string{"Uttar Pradesh East", "UPE", "Eastern UP", "East UP"}},
	{"UP West", "UW", []string{"Uttar Pradesh West", "UPW", "Western UP", "West UP", "UP West & Uttarakhand", "Uttarakhand"}},
	{"West Bengal", "WB", []string{"Rest of Bengal", "Rest of West Bengal", "Sikkim", "Andaman & Nicobar"}},
}

// Circles returns the canonical names of the 22 licensed service areas, in
// alphabetical order.
func Circles() []string {
	names := make([]string, len(circles))
	for i, c := range circles {
		names[i] = c.name
	}
	return names
}

// Circle returns the canonical name of a circle. text is its name, its code or an alias, in any
// case, with or without blanks and punctuation. Codes are the two letters that DoT and operators
// write, such as DL. The word "and" counts as "&". ok is false if no circle has the name.
func Circle(text string) (name string, ok bool) {
	k := key(strings.ReplaceAll(strings.ToLower(text), " and ", " & "))
	if k == "" {
		return "", false
	}
	for _, c := range circles {
		if key(c.name) == k || key(c.code) == k || slices.ContainsFunc(c.aliases, func(a string) bool { return key(a) == k }) {
			return c.name, true
		}
	}
	return "", false
}
