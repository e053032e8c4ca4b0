package numbering

import (
	"slices"

	"vayu/schema"
)

// Operator is one that can be recharged.
type Operator struct {
	// Name is canonical, and unique among all types.
	Name    string
	Type    schema.RechargeType
	Aliases []string
	// Min and Max are what one recharge may be.
	Min, Max schema.Paise
}

// The amounts of one recharge (CONTRACT 4): 10 to 10,000 rupees for everybody. An
// operator that takes less of it says so when it is asked.
const (
	least = 10_00
	most  = 10_000_00
)

// operators are those that carry out recharges now. Names that have gone are
// aliases of their successors: Vodafone and Idea merged into Vi in 2018, Tata Sky
// was renamed Tata Play in 2022, Videocon d2h merged into Dish TV in 2018 and is
// still recharged as d2h.
var operators = []Operator{
	{Name: "Airtel", Type: schema.Prepaid, Min: least, Max: most,
		Aliases: []string{"Bharti Airtel", "Airtel India", "Airtel Prepaid", "Airtel Mobile"}},
	{Name: "Jio", Type: schema.Prepaid, Min: least, Max: most,
		Aliases: []string{"Reliance Jio", "Reliance Jio Infocomm", "Jio Prepaid", "Jio Mobile", "RJio", "RJIL"}},
	{Name: "Vi", Type: schema.Prepaid, Min: least, Max: most,
		Aliases: []string{"Vodafone Idea", "Vodafone", "Idea", "Idea Cellular", "Vi India", "Vi Prepaid", "Vodafone India", "VIL"}},
	{Name: "BSNL", Type: schema.Prepaid, Min: least, Max: most,
		Aliases: []string{"Bharat Sanchar Nigam", "Bharat Sanchar Nigam Limited", "BSNL Mobile", "BSNL Prepaid", "CellOne"}},
	{Name: "MTNL", Type: schema.Prepaid, Min: least, Max: most,
		Aliases: []string{"Mahanagar Telephone Nigam", "Mahanagar Telephone Nigam Limited", "MTNL Delhi", "MTNL Mumbai", "MTNL Dolphin", "Dolphin"}},
	{Name: "Tata Play", Type: schema.DTH, Min: least, Max: most,
		Aliases: []string{"Tata Sky", "Tata Play DTH", "Tata Sky DTH"}},
	{Name: "Dish TV", Type: schema.DTH, Min: least, Max: most,
		Aliases: []string{"Dish", "Dish TV India", "Dish TV DTH", "Zing Digital"}},
	{Name: "d2h", Type: schema.DTH, Min: least, Max: most,
		Aliases: []string{"Videocon d2h", "Videocon", "Videocon DTH", "Dish d2h"}},
	{Name: "Sun Direct", Type: schema.DTH, Min: least, Max: most,
		Aliases: []string{"Sun", "Sun Direct TV", "Sun Direct DTH"}},
	{Name: "Airtel Digital TV", Type: schema.DTH, Min: least, Max: most,
		Aliases: []string{"Airtel", "Airtel DTH", "Airtel TV", "Airtel Digital", "Airtel DTH TV", "Airtel Xstream"}},
}

// Operators returns every operator, mobile ones first. The slice is the caller's;
// the aliases in it are not to be changed.
func Operators() []Operator { return slices.Clone(operators) }

// Find returns the operator of a type that text names: its name or an alias, in
// any case, with or without blanks and punctuation.
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
