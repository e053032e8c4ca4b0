package namematch

// join matches a word of x, such as Venkataramana, with the words of y that form it. These are two or three words, or
// a single word from which strip removed a leading Sri.
func join(x, y *side) {
	for i := range x.n {
		if x.how[i] != unmatched || len(x.w[i].text) < 2 {
			continue
		}
		if y.sri && y.how[0] == unmatched && soundOf([]byte("sri"+y.w[0].text)) == x.w[i].sound {
			match(x, i, y, 0, 1, joined)
			continue
		}
		for j := range y.n {
			if n := y.parts(&x.w[i], j); n > 0 {
				match(x, i, y, j, n, joined)
				break
			}
		}
	}
}

// parts returns how many consecutive unmatched words, from the index j on, together spell or sound like w: 0, 2 or 3.
func (m *side) parts(w *word, j int) int {
	var buf [maxLetters]byte
	text := buf[:0]
	for n := range 3 {
		if j+n >= m.n || m.how[j+n] != unmatched {
			return 0
		}
		text = append(text, m.w[j+n].text...)
		if n == 0 || len(text) < len(w.text)-2 {
			continue
		}
		if string(text) == w.text {
			return n + 1
		}
		if w.full() && w.sound.n > 3 {
			k := soundOf(text)
			if k == w.sound || loose(k.bytes(), w.sound.bytes()) {
				return n + 1
			}
		}
	}
	return 0
}

// clusters matches a word of x that may be initials (RK) with the words of y that have these initials (Rajesh Kumar).
func clusters(x, y *side) {
	for i := range x.n {
		w := x.w[i].text
		if x.how[i] != unmatched || len(w) < 2 || !x.w[i].cluster && len(w) > 2 || w[0] >= 0x80 {
			continue
		}
		for j := 0; j+len(w) <= y.n; j++ {
			if y.spells(w, j) {
				match(x, i, y, j, len(w), initially)
				break
			}
		}
	}
}

// spells reports whether the letters of w are the initials of consecutive unmatched words, from the index j on.
func (m *side) spells(w string, j int) bool {
	for k := range len(w) {
		o := &m.w[j+k]
		if m.how[j+k] != unmatched || o.first == 0 || !sameFirst(w[k], o.first) {
			return false
		}
	}
	return true
}
