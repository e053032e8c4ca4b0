package namematch

// cost has the points that a score loses for a match of each kind. However many points are lost, the score of two names
// that match is at least Standard.
var cost = [...]int{letters: 0, phonetic: 2, loosely: 6, affixed: 4, joined: 2, truncated: 6, initially: 6}

const (
	// The score loses these points for a word without a match.
	lostInitial = 5
	lostWeak    = 8
	lostMiddle  = 10
	lostEnd     = 12 // the last word, usually the surname
	lostOnlyOne = 20 // the last word, if at most one other word matches

	// These are the scores of names that do not match. They are exact, except that `conflict` is a maximum.
	subset   = 55 // the given name or a company's word is missing in the other name
	thin     = 62 // too few words match, or the forms of two companies differ
	slipped  = 55 // the names differ only by one letter of a long word
	conflict = 45 // each name has a word that the other lacks, and `slipped` does not apply
)

// counts holds the numbers of matching words by kind.
type counts struct {
	strong, surname, weak, initial int
	lost                           int // points that the score loses
}

// scorePerson returns the score of two names of people.
func (p *pair) scorePerson() int {
	leftA, leftB := p.a.left(), p.b.left()
	titled := p.a.spare() && p.b.spare() // such as Syed Akbar and Shaikh Akbar
	if leftA > 0 && leftB > 0 || titled {
		return p.conflicting()
	}
	t := p.countMatches()
	switch {
	case p.lostGiven() || p.crossed():
		return subset
	case !t.enough():
		return thin
	case leftA > 3 || leftB > 3:
		return thin
	}
	full := t.strong + t.surname + t.weak
	if full == 1 && t.initial == 0 && max(p.a.distinctive(), p.b.distinctive()) > 1 {
		return thin
	}
	t.lost += p.a.missing(full) + p.b.missing(full)
	return max(99-t.lost, Standard)
}

// left returns the number of unmatched words of m, without a leading prefix that may be omitted (see spare).
func (m *side) left() (n int) {
	for i := range m.n {
		if m.how[i] == unmatched {
			n++
		}
	}
	if m.spare() {
		n--
	}
	return n
}

// spare reports whether m begins with an unmatched prefix, such as Mohammed in Mohammed Salim. The
// other name (Salim) may omit the prefix.
func (m *side) spare() bool { return m.w[0].prefix && m.how[0] == unmatched }

// countMatches counts the words of p.a that match words of p.b, by kind. It adds up the points that the matches cost.
func (p *pair) countMatches() (t counts) {
	for i := range p.a.n {
		h := p.a.how[i]
		if h == unmatched {
			continue
		}
		t.lost += cost[h]
		x, y := &p.a.w[i], &p.b.w[p.a.to[i]]
		switch {
		case h == initially, !x.full() && !y.full():
			t.initial++
		case x.weak && y.weak, x.prefix && y.prefix:
			t.weak++ // a prefix identifies a person as little as a weak word
		case x.surname && y.surname:
			t.surname++
		default:
			t.strong++
		}
	}
	return t
}

// enough reports whether the matching words identify a person. An uncommon name is enough, and
// so are two surnames, a surname and an initial, or a common word and two initials.
func (t *counts) enough() bool {
	switch {
	case t.strong > 0:
		return true
	case t.surname > 0:
		return t.initial > 0 || t.surname > 1
	}
	return t.weak > 0 && t.initial > 1
}

// lostGiven reports whether one of the two names has a given name without a match in the other.
func (p *pair) lostGiven() bool {
	g, h := p.a.given(), p.b.given()
	return g >= 0 && p.a.how[g] == unmatched || h >= 0 && p.b.how[h] == unmatched
}

// crossed reports whether the given name of one name matches the other name only at a trailing initial. Two such names
// belong to different people: the given name of Mohan P. is Mohan, and that of Priya Mohan is Priya.
func (p *pair) crossed() bool {
	g, h := p.a.given(), p.b.given()
	if g < 0 || h < 0 {
		return false
	}
	return p.a.how[g] == initially && int(p.a.to[g]) > h && int(p.b.to[h]) != g && !p.b.w[h].surname ||
		p.b.how[h] == initially && int(p.b.to[h]) > g && int(p.a.to[g]) != h && !p.a.w[g].surname
}

// distinctive counts the unmatched words of m that are written out (see word.full) and not weak (very common).
func (m *side) distinctive() (n int) {
	for i := range m.n {
		if m.how[i] == unmatched && m.w[i].full() && !m.w[i].weak {
			n++
		}
	}
	return n
}

// missing returns the points that the score loses for the unmatched words of m. `full` is the number
// of matched words that are written out.
func (m *side) missing(full int) (lost int) {
	for i := range m.n {
		w := &m.w[i]
		switch {
		case m.how[i] != unmatched:
		case !w.full():
			lost += lostInitial
		case w.weak, w.prefix:
			lost += lostWeak
		case i < m.n-1:
			lost += lostMiddle
		case full > 1:
			lost += lostEnd
		default:
			lost += lostOnlyOne
		}
	}
	return lost
}

// conflicting returns the score of two names that each have an unmatched word: `slipped` if they differ only by a slip
// (one letter that is wrong or missing). Otherwise it is `conflict` times the share of letters in matched words.
func (p *pair) conflicting() int {
	agree, all, slips, full := 0, 0, 0, 0
	for i := range p.a.n {
		all += len(p.a.w[i].text)
		if p.a.how[i] != unmatched {
			agree += len(p.a.w[i].text)
			full++
			continue
		}
		for j := range p.b.n {
			if p.b.how[j] == unmatched && slip(p.a.w[i].text, p.b.w[j].text) {
				slips++
			}
		}
	}
	for j := range p.b.n {
		all += len(p.b.w[j].text)
		if p.b.how[j] != unmatched {
			agree += len(p.b.w[j].text)
		}
	}
	if slips == 1 && full > 0 && p.a.left() == 1 && p.b.left() == 1 {
		return slipped
	}
	return conflict * agree / max(all, 1)
}

// scoreCompany returns the score of two names of companies. Every word must match, except company
// forms (limited) and fillers (and).
func (p *pair) scoreCompany() int {
	coreA, formA := p.a.leftOfCompany()
	coreB, formB := p.b.leftOfCompany()
	t := p.countMatches()
	switch {
	case coreA > 0 && coreB > 0:
		return p.conflicting()
	case coreA > 0 || coreB > 0:
		return subset
	case formA > 0 && formB > 0, t.strong+t.surname == 0:
		return thin
	}
	return max(99-t.lost-lostWeak*min(formA+formB, 2), Standard)
}

func (m *side) leftOfCompany() (core, form int) {
	for i := range m.n {
		switch {
		case m.how[i] != unmatched || m.w[i].filler:
		case m.w[i].form:
			form++
		default:
			core++
		}
	}
	return core, form
}
