// Package namematch says how alike two names of India are: the name that a
// payer expects and the one that a bank has registered. It knows people and
// companies, Latin script and Devanagari.
//
// It is pure: no state, no clock, no network. README.md holds the measured
// precision and recall, the rules, and what is known not to work.
package namematch

import "slices"

// Bounds of what is compared. A name beyond them can still be exact, for which
// the whole is looked at; otherwise only its beginning is scored, and the score
// stays under Standard, because what was not read may differ. Both bounds are
// far above any name a bank can register (NPCI and NEFT fields end at 100
// characters or fewer).
const (
	maxWords   = 16
	maxLetters = 200 // bytes of the folded name
)

// Standard and Lenient are the thresholds of the two named tolerances: a score
// that reaches them is a partial match.
const (
	Standard = 70
	Lenient  = 50
)

// Result is how alike two names are.
type Result struct {
	// Score is 0 to 100: 100 if and only if Exact, 70 and more for the same
	// person written otherwise, 50 to 69 where it cannot be said.
	Score int
	// Exact means the same words after folding: case, accents, punctuation,
	// honorifics, S/O D/O W/O C/O tails, forms of companies, and order.
	Exact bool
}

// Compare says how alike the expected name and the registered one are. It is
// pure, symmetric and safe for concurrent use. It accepts any strings, takes
// time linear in their length (n log n in the words of two long names that hold
// the same letters) and allocates no more than a multiple of it. A name without
// a letter or digit matches nothing, its like included.
func Compare(expected, registered string) Result {
	var bufA, bufB [maxLetters + 56]byte
	var spanA, spanB [maxWords]string
	a, b := fold(bufA[:0], expected), fold(bufB[:0], registered)
	if a > b {
		a, b = b, a // one order for both directions makes the result symmetric
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
	if p.a.n == 0 || p.b.n == 0 { // a first word beyond the bounds
		return Result{}
	}
	score := min(max(p.score(), 0), 99)
	if p.a.cut || p.b.cut {
		score = min(score, Standard-1)
	}
	return Result{Score: score}
}

// sameWords reports whether both hold the same words, in whatever order.
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

// letterSum does not depend on order, and spares most pairs the sorting.
func letterSum(words []string) (sum uint64) {
	for _, w := range words {
		for i := range len(w) {
			sum += uint64(w[i]) * uint64(w[i])
		}
		sum += 1 << 32
	}
	return sum
}
