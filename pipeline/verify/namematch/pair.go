package namematch

import "strings"

// how two words were found to be one, best first. Each costs points.
type how uint8

const (
	unmatched how = iota
	letters       // the same letters
	said          // the same sound or a known variant
	loosely       // one doubtful vowel
	affixed       // Rameshbhai, Ramesh
	joined        // Venkata Ramana, Venkataramana
	truncated     // cut off by a bank
	initially     // R, Rajesh
)

// pair is two names and which word of one is which of the other.
type pair struct {
	a, b name
	// toB and toA hold the index of the other's word where how is not unmatched.
	toB, toA   [maxWords]int8
	howA, howB [maxWords]how
}

func (p *pair) match(i, j int, h how) {
	p.toB[i], p.toA[j] = int8(j), int8(i)
	p.howA[i], p.howB[j] = h, h
}

// swap makes p seen from the other name.
func (p *pair) swap() {
	p.a, p.b = p.b, p.a
	p.toB, p.toA = p.toA, p.toB
	p.howA, p.howB = p.howB, p.howA
}

// score matches the words, surest first, and judges what is left.
func (p *pair) score() int {
	company := p.a.company || p.b.company
	p.each(letters, sameLetters)
	p.each(said, sameSound)
	p.each(loosely, func(x, y *word) bool { return sameLoosely(x, y) || company && plural(x.text, y.text) })
	p.compounds()
	p.each(affixed, sameAffixed)
	p.join(&p.a, &p.b, false)
	p.join(&p.b, &p.a, true)
	p.truncation()
	if company {
		return p.scoreCompany()
	}
	p.each(initially, sameInitial)
	p.clusters(&p.a, &p.b, false)
	p.clusters(&p.b, &p.a, true)
	return p.scorePerson()
}

// each matches what is still unmatched, in the order of the words.
func (p *pair) each(h how, same func(x, y *word) bool) {
	for i := range p.a.n {
		if p.howA[i] != unmatched {
			continue
		}
		for j := range p.b.n {
			if p.howB[j] == unmatched && same(&p.a.w[i], &p.b.w[j]) {
				p.match(i, j, h)
				break
			}
		}
	}
}

func sameLetters(x, y *word) bool { return x.text == y.text }

func sameSound(x, y *word) bool {
	return x.full() && y.full() && x.sound.n > 1 && x.sound == y.sound
}

func sameLoosely(x, y *word) bool {
	if x.surname && y.surname {
		return false
	}
	return x.full() && y.full() && loose(x.sound.bytes(), y.sound.bytes())
}

func sameInitial(x, y *word) bool {
	return x.initial != y.initial && x.first != 0 && sameFirst(x.first, y.first)
}

// sameFirst compares initials by sound: Wasim is V, Zakir is J.
func sameFirst(x, y byte) bool { return plainConsonant(x) == plainConsonant(y) }

// plural forgives the s of Traders.
func plural(x, y string) bool {
	if len(x) > len(y) {
		x, y = y, x
	}
	return len(x) >= 5 && len(y) == len(x)+1 && strings.HasPrefix(y, x) && y[len(x)] == 's'
}

// sameAffixed forgives the Gujarati -bhai and -ben on one of the two.
func sameAffixed(x, y *word) bool {
	sx, sy := affix(x.text), affix(y.text)
	if (sx == "") == (sy == "") {
		return false
	}
	kx := soundOf([]byte(strings.TrimSuffix(x.text, sx)))
	ky := soundOf([]byte(strings.TrimSuffix(y.text, sy)))
	return kx.n > 2 && (kx == ky || loose(kx.bytes(), ky.bytes()))
}

func affix(w string) string {
	for _, s := range [...]string{"bhai", "bai", "behn", "ben"} {
		if len(w) > len(s)+2 && strings.HasSuffix(w, s) {
			return s
		}
	}
	return ""
}

// compounds matches Rama with Ram where Krishna follows in both.
func (p *pair) compounds() {
	for i := range p.a.n - 1 {
		for j := range p.b.n - 1 {
			if p.howA[i] != unmatched || p.howB[j] != unmatched ||
				p.howA[i+1] == unmatched || int(p.toB[i+1]) != j+1 {
				continue
			}
			next := p.a.w[i+1].sound.bytes()
			x, y := p.a.w[i].sound.bytes(), p.b.w[j].sound.bytes()
			if compoundTails[string(next)] && sameStem(x, y, compoundHeads) || nameTails[string(next)] && sameStem(x, y, maleHeads) {
				p.match(i, j, loosely)
			}
		}
	}
}

// sameStem reports whether one is the other, a head of the table, and an a.
func sameStem(a, b []byte, heads map[string]bool) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return heads[string(a)] && len(b) == len(a)+1 && b[len(a)] == 'a' && string(b[:len(a)]) == string(a)
}

// shortestCut is the least width at which banks cut the name of an account, in
// letters: core systems hold 20, 30, 35 or 40.
const shortestCut = 20

// truncation matches the last word of a long name, which a bank may have cut,
// with a word that begins with it. A surname is whole: Das is not Dasgupta.
func (p *pair) truncation() {
	for range 2 {
		last := p.a.n - 1
		if p.a.length >= shortestCut && !p.a.tail && !p.a.cut && p.howA[last] == unmatched && !p.a.w[last].surname {
			for j := range p.b.n {
				x, y := &p.a.w[last], &p.b.w[j]
				if p.howB[j] == unmatched && len(x.text) > 1 && len(y.text) > len(x.text) && strings.HasPrefix(y.text, x.text) {
					p.match(last, j, truncated)
					break
				}
			}
		}
		p.swap()
	}
}
