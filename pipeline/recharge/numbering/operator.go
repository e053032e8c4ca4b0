package numbering

import (
	_ "embed" // operators.csv, circles.csv
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

// Every operator gets recharges of 10 to 10,000 rupees. An operator with narrower limits rejects the order.
const (
	minAmount = 10_00
	maxAmount = 10_000_00
)

// operators has the operators whose numbers can be recharged today.
var operators = func() (all []Operator) {
	for _, row := range rows(operatorsCSV) {
		all = append(all, Operator{Name: row[0], Type: schema.RechargeType(row[1]), Aliases: aliases(row[2]), Min: minAmount, Max: maxAmount})
	}
	return all
}()

//go:embed operators.csv
var operatorsCSV string

func aliases(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ';' })
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

// circle is one of the licensed service areas of the Department of Telecommunications.
type circle struct {
	name, code string
	aliases    []string
}

// circles are the 22 licensed service areas.
var circles = func() (all []circle) {
	for _, row := range rows(circlesCSV) {
		all = append(all, circle{row[0], row[1], aliases(row[2])})
	}
	return all
}()

//go:embed circles.csv
var circlesCSV string

// Circles returns the canonical names of the 22 licensed service areas, in alphabetical order.
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
