// Package namematch measures the similarity of two Indian names: the name that a payer expects, and the name that a
// bank has registered. It handles people and companies, in Latin script and Devanagari.
//
// Its functions are pure: no state, no clock, no network. README.md holds the measured precision and recall, the rules
// and the known limits.
package namematch

import "slices"

// These limits bound a comparison. Two longer names can still match exactly, because Exact compares whole names.
// Otherwise only their beginnings are scored, and the score stays below Standard, because the rest may differ. Both
// limits are far above any registered name: NPCI and NEFT fields end at 100 characters or fewer.
const (
	maxWords   = 16
	maxLetters = 200 // bytes of the folded name
)

// Standard and Lenient are the minimum scores of a partial match with the tolerances "standard" and "lenient".
const (
	Standard = 70
	Lenient  = 50
)

// Result is the similarity of two names.
type Result struct {
	// Score is 0 to 100. It is 100 if and only if Exact is true. A score of 70 or more means the
	// same person in another spelling, and 50 to 69 is uncertain.
	Score int
	// Exact means that both names have the same words after normalisation. Normalisation ignores
	// case, accents, punctuation, honorifics, order, and relatives after S/O, D/O, W/O and C/O. It
	// replaces abbreviated forms of companies, such as Ltd, by the full word.
	Exact bool
}

// Compare measures the similarity of the expected and the registered name. It is pure, symmetric
// and safe for concurrent use, and accepts any strings. Time is linear in the length of the names.
// For two long names with equal letters, time is n log n in the number of words. Memory is a
// multiple of the length. A name without a letter or digit matches nothing, not even itself.
func Compare(expected, registered string) Result {
	var bufA, bufB [maxLetters + 56]byte
	var spanA, spanB [maxWords]string
	a, b := fold(bufA[:0], expected), fold(bufB[:0], registered)
	if a > b {
		a, b = b, a // a fixed order makes the result symmetric
	}
	x, y := strip(spanA[:0], a), strip(spanB[:0], b)
	switch {
	case len(x.words) == 0 || len(y.words) == 0:
		return Result{}
	case sameWords(x.words, y.words):
		return Result{Score: 100, Exact: true}
	}
	p := pair{}
	p.a.read(x)
	p.b.read(y)
	if p.a.n == 0 || p.b.n == 0 { // the first word is longer than maxLetters
		return Result{}
	}
	score := min(max(p.score(), 0), 99)
	if p.a.cut || p.b.cut {
		score = min(score, Standard-1)
	}
	return Result{Score: score}
}

// sameWords reports whether a and b hold the same words, in any order.
func sameWords(a, b []string) bool {
	if len(a) != len(b) || slices.Equal(a, b) {
		return len(a) == len(b)
	}
	if letterSum(a) != letterSum(b) {
		return false
	}
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// letterSum returns a sum over all letters, which does not depend on the order of the words. Two
// lists with different sums have different words, so most lists need no sorting.
func letterSum(words []string) (sum uint64) {
	for _, w := range words {
		for i := range len(w) {
			sum += uint64(w[i]) * uint64(w[i])
		}
		sum += 1 << 32
	}
	return sum
}
