package namematch

import (
	"bytes"
	"strings"
)

// The type how is the kind of a match between two words. [pair.score] tries the kinds in this order. A match
// costs the points that `cost` has for its kind.
type how uint8

const (
	unmatched how = iota
	letters       // the same letters
	phonetic      // the same sound or a known variant
	loosely       // similar sounds, or a plural
	affixed       // an affix is missing: Rameshbhai, Ramesh
	joined        // two words are one: Venkata Ramana, Venkataramana
	truncated     // cut off by a bank
	initially     // one word has initials only: R, Rajesh
)

// side is one of two compared names, and the matches of its words.
type side struct {
	name
	// to[i] is the index of the word of the other side that matches word i, unless how[i] is unmatched.
	to  [maxWords]int8
	how [maxWords]how
}

type pair struct{ a, b side }

func match(x *side, i int, y *side, j, n int, h how) {
	for k := j + n - 1; k >= j; k-- {
		x.to[i], y.to[k] = int8(k), int8(i)
		x.how[i], y.how[k] = h, h
	}
}

// score matches the words of both names, the surest kinds of match first. It returns the score of the pair.
func (p *pair) score() int {
	company := p.a.company || p.b.company
	p.each(letters, company)
	p.each(phonetic, company)
	p.each(loosely, company)
	p.compounds()
	p.each(affixed, company)
	join(&p.a, &p.b)
	join(&p.b, &p.a)
	truncation(&p.a, &p.b)
	truncation(&p.b, &p.a)
	if company {
		return p.scoreCompany()
	}
	p.each(initially, company)
	clusters(&p.a, &p.b)
	clusters(&p.b, &p.a)
	return p.scorePerson()
}

// each matches words of a and b that are still unmatched. It tries only the kind of match h.
func (p *pair) each(h how, company bool) {
	for i := range p.a.n {
		if p.a.how[i] != unmatched {
			continue
		}
		for j := range p.b.n {
			if p.b.how[j] == unmatched && same(&p.a.w[i], &p.b.w[j], h, company) {
				match(&p.a, i, &p.b, j, 1, h)
				break
			}
		}
	}
}

// same reports whether two words match by the kind h. It is a switch instead of a table of functions, because calls
// through function values would move the pair to the heap.
func same(x, y *word, h how, company bool) bool {
	full := x.full() && y.full()
	switch h {
	case letters:
		return x.text == y.text
	case phonetic:
		return full && x.sound.n > 1 && x.sound == y.sound
	case loosely:
		return full && (!x.surname || !y.surname) && loose(x.sound.bytes(), y.sound.bytes()) ||
			company && plural(x.text, y.text)
	case affixed:
		return sameAffixed(x, y)
	case initially:
		return x.initial != y.initial && x.first != 0 && sameFirst(x.first, y.first)
	default:
		return false
	}
}

// sameFirst compares initials by sound: W equals V, Z equals J, and Q equals K.
func sameFirst(x, y byte) bool { return plainConsonant(x) == plainConsonant(y) }

// plural reports whether one word has five letters or more, and the other one is that word with a final s: Traders.
func plural(x, y string) bool {
	if len(x) > len(y) {
		x, y = y, x
	}
	return len(x) >= 5 && len(y) == len(x)+1 && strings.HasPrefix(y, x) && y[len(x)] == 's'
}

// sameAffixed reports whether one word sounds like the other with a Gujarati suffix: Rameshbhai and Ramesh.
func sameAffixed(x, y *word) bool {
	sx, sy := affix(x.text), affix(y.text)
	if (sx == "") == (sy == "") {
		return false
	}
	kx := soundOf([]byte(strings.TrimSuffix(x.text, sx)))
	ky := soundOf([]byte(strings.TrimSuffix(y.text, sy)))
	return kx.n > 2 && (kx == ky || loose(kx.bytes(), ky.bytes()))
}

// affix returns the Gujarati suffix (bhai, bai, behn or ben) that follows three or more letters in w; "" for none.
func affix(w string) string {
	for _, s := range [...]string{"bhai", "bai", "behn", "ben"} {
		if len(w) > len(s)+2 && strings.HasSuffix(w, s) {
			return s
		}
	}
	return ""
}

// compounds matches Rama in one name with Ram in the other if the next words match and are a
// compoundTail or nameTail, such as Krishna.
func (p *pair) compounds() {
	for i := range p.a.n - 1 {
		for j := range p.b.n - 1 {
			if p.a.how[i] != unmatched || p.b.how[j] != unmatched ||
				p.a.how[i+1] == unmatched || int(p.a.to[i+1]) != j+1 {
				continue
			}
			next, x, y := p.a.w[i+1].traits, &p.a.w[i], &p.b.w[j]
			if next&compoundTail != 0 && sameStem(x, y, compoundHead) || next&nameTail != 0 && sameStem(x, y, maleHead) {
				match(&p.a, i, &p.b, j, 1, loosely)
			}
		}
	}
}

// sameStem reports whether the longer of two words sounds like the shorter one with an additional final a. It returns
// false if the shorter word lacks the trait `head`.
func sameStem(x, y *word, head trait) bool {
	if x.sound.n > y.sound.n {
		x, y = y, x
	}
	a, b := x.sound.bytes(), y.sound.bytes()
	return x.traits&head != 0 && len(b) == len(a)+1 && b[len(a)] == 'a' && bytes.Equal(b[:len(a)], a)
}

// shortestCut is the minimum width at which banks cut the name of an account, in letters. The core
// systems of banks hold 20, 30, 35 or 40 letters.
const shortestCut = 20

// truncation handles names that a bank has cut: the last word of a long name matches a longer word of the other name
// that begins with that last word. A last word that is a known surname does not match: Das is not a cut Dasgupta.
func truncation(x, y *side) {
	last := x.n - 1
	if x.how[last] != unmatched || !x.mayBeCut() {
		return
	}
	if j := y.beginning(x.w[last].text); j >= 0 {
		match(x, last, y, j, 1, truncated)
	}
}

// mayBeCut reports whether a bank may have cut the last word of m. It is false for short names and known surnames.
func (m *name) mayBeCut() bool {
	return m.length >= shortestCut && !m.tail && !m.cut && !m.w[m.n-1].surname
}

// beginning returns the index of the first unmatched longer word that begins with `text` (two letters or more), or -1.
func (m *side) beginning(text string) int {
	for j := range m.n {
		w := m.w[j].text
		if m.how[j] == unmatched && len(text) > 1 && len(w) > len(text) && strings.HasPrefix(w, text) {
			return j
		}
	}
	return -1
}
