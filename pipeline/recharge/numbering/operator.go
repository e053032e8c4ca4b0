package numbering

import (
	"slices"

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
