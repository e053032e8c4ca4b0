package namematch

import (
	"bytes"
	"strings"
)

// how is the kind of a match between two words. [pair.score] tries the kinds in this order. Each
// kind costs points (see cost).
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

// pair is two names and the matches of their words.
type pair struct {
	a, b name
	// toB[i] is the index of the word of b that matches word i of a, unless howA[i] is unmatched.
	// toA is the reverse.
	toB, toA   [maxWords]int8
	howA, howB [maxWords]how
}

func (p *pair) match(i, j int, h how) {
	p.toB[i], p.toA[j] = int8(j), int8(i)
	p.howA[i], p.howB[j] = h, h
}

// score matches the words of both names, with the surest kind of match first. It returns the score
// of the names.
func (p *pair) score() int {
	company := p.a.company || p.b.company
	p.each(letters, company)
	p.each(phonetic, company)
	p.each(loosely, company)
	p.compounds()
	p.each(affixed, company)
	p.join(&p.a, &p.b, false)
	p.join(&p.b, &p.a, true)
	p.truncation()
	if company {
		return p.scoreCompany()
	}
	p.each(initially, company)
	p.clusters(&p.a, &p.b, false)
	p.clusters(&p.b, &p.a, true)
	return p.scorePerson()
}

// each matches unmatched words of a with unmatched words of b, by the kind of match h.
func (p *pair) each(h how, company bool) {
	for i := range p.a.n {
		if p.howA[i] != unmatched {
			continue
		}
		for j := range p.b.n {
			if p.howB[j] == unmatched && same(&p.a.w[i], &p.b.w[j], h, company) {
				p.match(i, j, h)
				break
			}
		}
	}
}

// same reports whether two words match by the kind h. It is a switch, because function values for
// each kind would move the pair to the heap.
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

// plural reports whether two words differ by a final s only: Trader, Traders.
func plural(x, y string) bool {
	if len(x) > len(y) {
		x, y = y, x
	}
	return len(x) >= 5 && len(y) == len(x)+1 && strings.HasPrefix(y, x) && y[len(x)] == 's'
}

// sameAffixed reports whether two words differ by a Gujarati affix, such as bhai, that only one of
// them has: Rameshbhai, Ramesh.
func sameAffixed(x, y *word) bool {
	sx, sy := affix(x.text), affix(y.text)
	if (sx == "") == (sy == "") {
		return false
	}
	kx := soundOf([]byte(strings.TrimSuffix(x.text, sx)))
	ky := soundOf([]byte(strings.TrimSuffix(y.text, sy)))
	return kx.n > 2 && (kx == ky || loose(kx.bytes(), ky.bytes()))
}

// affix returns the affix at the end of a word; "" for none.
func affix(w string) string {
	for _, s := range [...]string{"bhai", "bai", "behn", "ben"} {
		if len(w) > len(s)+2 && strings.HasSuffix(w, s) {
			return s
		}
	}
	return ""
}

// compounds matches Rama in one name with Ram in the other if a matched compoundTail or nameTail,
// such as Krishna, follows both.
func (p *pair) compounds() {
	for i := range p.a.n - 1 {
		for j := range p.b.n - 1 {
			if p.howA[i] != unmatched || p.howB[j] != unmatched ||
				p.howA[i+1] == unmatched || int(p.toB[i+1]) != j+1 {
				continue
			}
			next, x, y := p.a.w[i+1].traits, &p.a.w[i], &p.b.w[j]
			if next&compoundTail != 0 && sameStem(x, y, compoundHead) || next&nameTail != 0 && sameStem(x, y, maleHead) {
				p.match(i, j, loosely)
			}
		}
	}
}

// sameStem reports whether the longer word sounds like the shorter one with an additional final a.
// The shorter word must have the trait head.
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

// truncation matches the last word of a long name with a longer word of the other name that begins
// with it. A bank may have cut the last word, unless it is a surname: Das is not Dasgupta.
func (p *pair) truncation() {
	if last := p.a.n - 1; p.howA[last] == unmatched && p.a.mayBeCut() {
		if j := beginning(p.a.w[last].text, &p.b, &p.howB); j >= 0 {
			p.match(last, j, truncated)
		}
	}
	if last := p.b.n - 1; p.howB[last] == unmatched && p.b.mayBeCut() {
		if i := beginning(p.b.w[last].text, &p.a, &p.howA); i >= 0 {
			p.match(i, last, truncated)
		}
	}
}

// mayBeCut reports whether a bank may have cut the last word of m.
func (m *name) mayBeCut() bool {
	return m.length >= shortestCut && !m.tail && !m.cut && !m.w[m.n-1].surname
}

// beginning returns the index of the first unmatched longer word of m that begins with text, or -1.
func beginning(text string, m *name, h *[maxWords]how) int {
	for j := range m.n {
		w := m.w[j].text
		if h[j] == unmatched && len(text) > 1 && len(w) > len(text) && strings.HasPrefix(w, text) {
			return j
		}
	}
	return -1
}
