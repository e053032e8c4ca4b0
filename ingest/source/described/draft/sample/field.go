package sample

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"vayu/ingest"
)

// mostTexts is the largest number of distinct texts that a Field keeps.
const mostTexts = 60

// Field is a field of the records, with a summary of its values.
type Field struct {
	Path string // path as in a description
	Name string // last name of the path
	// Present counts the values of the field, including empty ones. A field in a list has several values in a record.
	// Nulls counts the empty values: null, "" and markers such as NA.
	Present, Nulls int
	All            []string // the values as texts, in the order of the reply
	Records        []int    // for each text, the number of its record
	Texts          []string // distinct texts, in the order of the reply
	Numbers        []float64

	numeric int // numbers, and texts that are numbers
	bools   int
	changes bool // a record has several values, because the field is in a list
}

// Add adds the field's value in a record to the summary of the field.
func (f *Field) Add(record int, v gjson.Result) {
	f.Present++
	var text string
	switch v.Type {
	case gjson.Null:
		f.Nulls++
		return
	case gjson.String:
		text = v.Str
	default:
		text = v.Raw
	}
	if n, reason := ingest.ParseValue(text); reason == ingest.MissingValue && n == 0 {
		f.Nulls++ // "" or a marker such as NA
		return
	}
	if v.Type == gjson.True || v.Type == gjson.False {
		f.bools++
	}
	if n, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
		f.numeric++
		f.Numbers = append(f.Numbers, n)
	}
	if len(f.Records) > 0 && f.Records[len(f.Records)-1] == record {
		f.changes = true
	}
	f.All, f.Records = append(f.All, text), append(f.Records, record)
	if len(f.Texts) < mostTexts && !slices.Contains(f.Texts, text) {
		f.Texts = append(f.Texts, text)
	}
}

// Filled returns the number of values that are not empty.
func (f *Field) Filled() int { return f.Present - f.Nulls }

// IsNumber reports whether half or more of the non-empty values are numbers (the rest can be error texts), none a bool.
func (f *Field) IsNumber() bool { return f.numeric > 0 && f.numeric*2 >= f.Filled() && f.bools == 0 }

// InEach reports whether the field belongs to the elements of a list in the records.
func (f *Field) InEach() bool { return strings.HasPrefix(f.Path, "each.") }

// Varies reports whether the field belongs to the elements of a list, and a record has several values of it.
func (f *Field) Varies() bool { return f.InEach() && f.changes }

// Parent returns the path without its last name.
func (f *Field) Parent() string {
	for i := len(f.Path) - 1; i > 0; i-- {
		if f.Path[i] == '.' && f.Path[i-1] != '\\' {
			return f.Path[:i]
		}
	}
	return ""
}

// Folded returns the name in lower case without separators.
func (f *Field) Folded() string { return Fold(f.Name) }

// Fold returns a name in lower case without separators.
func Fold(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(strings.ToLower(name))
}

// usual returns the numbers above -90. Smaller numbers, such as -99, mark missing values.
func (f *Field) usual() []float64 {
	var all []float64
	for _, n := range f.Numbers {
		if n > -90 {
			all = append(all, n)
		}
	}
	return all
}

// Median returns the median of the numbers that mark no missing value (see usual). It returns false if there are none.
func (f *Field) Median() (float64, bool) {
	all := f.usual()
	if len(all) == 0 {
		return 0, false
	}
	slices.Sort(all)
	return all[len(all)/2], true
}

// Within reports whether the field has numbers (see usual), and all of them are between `least` and `most`.
func (f *Field) Within(least, most float64) bool {
	all := f.usual()
	return len(all) > 0 && slices.Min(all) >= least && slices.Max(all) <= most
}

// Degrees reports whether the numbers of the field can be degrees: none has a larger absolute value than `most`.
func (f *Field) Degrees(most float64) bool {
	return f.IsNumber() && !slices.ContainsFunc(f.Numbers, func(n float64) bool { return math.Abs(n) > most })
}

// Among reports whether one of the names in the path, after [Fold], is one of the words.
func (f *Field) Among(words []string) bool {
	for name := range strings.SplitSeq(f.Path, ".") {
		if slices.Contains(words, Fold(name)) {
			return true
		}
	}
	return false
}

// Sample returns up to three values as text for a comment in the draft.
func (f *Field) Sample() string {
	var all []string
	for _, text := range f.Texts[:min(len(f.Texts), 3)] {
		if len(text) > 40 {
			text = text[:40] + "…"
		}
		all = append(all, text)
	}
	out := strings.Join(all, ", ")
	if len(f.Texts) > len(all) {
		out += ", …"
	}
	return strings.ToValidUTF8(out, "")
}

// Span returns the lowest and the highest number (see usual) as text for a comment in the draft.
func (f *Field) Span() string {
	all := f.usual()
	if len(all) == 0 {
		return "no values"
	}
	return fmt.Sprintf("values %g to %g", slices.Min(all), slices.Max(all))
}
