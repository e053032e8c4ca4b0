package numbering

import (
	"slices"
	"strings"

	"vayu/schema"
)

// Operator is an operator whose numbers can be recharged.
type Operator struct {
	// Name is canonical, and unique among the operators of all types.
	Name    string
	Type    schema.RechargeType
	Aliases []string
	// Min and Max are the limits of one recharge.
	Min, Max schema.Paise
}

// Limits of one recharge: 10 to 10,000 rupees for every operator. An operator with narrower limits
// rejects the order.
const (
	minAmount = 10_00
	maxAmount = 10_000_00
)

// operators are the current operators. Former names are aliases of their successors:
// Vodafone and Idea merged into Vi in 2018, Tata Sky was renamed Tata Play in 2022.
// Videocon d2h merged into Dish TV in 2018 and is still recharged as d2h.
var operators = []Operator{
	{Name: "Airtel", Type: schema.Prepaid, Min: minAmount, Max: maxAmount,
		Aliases: []string{"Bharti Airtel", "Airtel India", "Airtel Prepaid", "Airtel Mobile"}},
	{Name: "Jio", Type: schema.Prepaid, Min: minAmount, Max: maxAmount,
		Aliases: []string{"Reliance Jio", "Reliance Jio Infocomm", "Jio Prepaid", "Jio Mobile", "RJio", "RJIL"}},
	{Name: "Vi", Type: schema.Prepaid, Min: minAmount, Max: maxAmount,
		Aliases: []string{"Vodafone Idea", "Vodafone", "Idea", "Idea Cellular", "Vi India", "Vi Prepaid", "Vodafone India", "VIL"}},
	{Name: "BSNL", Type: schema.Prepaid, Min: minAmount, Max: maxAmount,
		Aliases: []string{"Bharat Sanchar Nigam", "Bharat Sanchar Nigam Limited", "BSNL Mobile", "BSNL Prepaid", "CellOne"}},
	{Name: "MTNL", Type: schema.Prepaid, Min: minAmount, Max: maxAmount,
		Aliases: []string{"Mahanagar Telephone Nigam", "Mahanagar Telephone Nigam Limited", "MTNL Delhi", "MTNL Mumbai", "MTNL Dolphin", "Dolphin"}},
	{Name: "Tata Play", Type: schema.DTH, Min: minAmount, Max: maxAmount,
		Aliases: []string{"Tata Sky", "Tata Play DTH", "Tata Sky DTH"}},
	{Name: "Dish TV", Type: schema.DTH, Min: minAmount, Max: maxAmount,
		Aliases: []string{"Dish", "Dish TV India", "Dish TV DTH", "Zing Digital"}},
	{Name: "d2h", Type: schema.DTH, Min: minAmount, Max: maxAmount,
		Aliases: []string{"Videocon d2h", "Videocon", "Videocon DTH", "Dish d2h"}},
	{Name: "Sun Direct", Type: schema.DTH, Min: minAmount, Max: maxAmount,
		Aliases: []string{"Sun", "Sun Direct TV", "Sun Direct DTH"}},
	{Name: "Airtel Digital TV", Type: schema.DTH, Min: minAmount, Max: maxAmount,
		Aliases: []string{"Airtel", "Airtel DTH", "Airtel TV", "Airtel Digital", "Airtel DTH TV", "Airtel Xstream"}},
}

// Operators returns every operator, mobile operators first. The caller owns the slice, but must not
// change the aliases in it.
func Operators() []Operator { return slices.Clone(operators) }

// Find returns the operator of a type by its name or an alias, in any case, with or without blanks
// and punctuation. It returns false if there is none.
func Find(t schema.RechargeType, text string) (Operator, bool) {
	k := key(text)
	if k == "" {
		return Operator{}, false
	}
	for _, o := range operators {
		if o.Type == t && (key(o.Name) == k || slices.ContainsFunc(o.Aliases, func(a string) bool { return key(a) == k })) {
			return o, true
		}
	}
	return Operator{}, false
}

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

// Circle returns the canonical name of a circle. `text` is its name, its code or an alias, in any case, with or without
// blanks and punctuation. Codes are the two letters that the Department of Telecommunications and operators use, such
// as DL. The word "and" counts as "&". ok is false if no circle has the name.
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
