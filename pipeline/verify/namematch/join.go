package namematch

// join matches a word of x, such as Venkataramana, with the words of y that form it: two or three,
// or one after a removed Sri. x is p.a and y is p.b, or the reverse if back is true.
func (p *pair) join(x, y *name, back bool) {
	howX, howY := &p.howA, &p.howB
	if back {
		howX, howY = &p.howB, &p.howA
	}
	for i := range x.n {
		if howX[i] != unmatched || len(x.w[i].text) < 2 {
			continue
		}
		if y.sri && sriJoined(&x.w[i], y, howY) >= 0 {
			j := sriJoined(&x.w[i], y, howY)
			p.note(i, j, 1, joined, back)
			continue
		}
		for j := range y.n {
			if n := parts(&x.w[i], y, howY, j); n > 0 {
				p.note(i, j, n, joined, back)
				break
			}
		}
	}
}

// note matches word i of one name with n words of the other, from word j on. Word i is of p.a, or
// of p.b if back is true.
func (p *pair) note(i, j, n int, h how, back bool) {
	for k := j + n - 1; k >= j; k-- {
		if back {
			p.match(k, i, h)
		} else {
			p.match(i, k, h)
		}
	}
}

// parts returns the number of unmatched consecutive words of y, from j on, that form w: 2, 3, or 0
// if no such words form w.
func parts(w *word, y *name, howY *[maxWords]how, j int) int {
	var buf [maxLetters]byte
	text := buf[:0]
	for n := range 3 {
		if j+n >= y.n || howY[j+n] != unmatched {
			return 0
		}
		text = append(text, y.w[j+n].text...)
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

// sriJoined returns 0, the index of the first word of y, if w sounds like Sri joined with that
// word. Otherwise it returns -1.
func sriJoined(w *word, y *name, howY *[maxWords]how) int {
	if howY[0] != unmatched {
		return -1
	}
	k := soundOf([]byte("sri" + y.w[0].text))
	if k == w.sound {
		return 0
	}
	return -1
}

// clusters matches a word of x that can consist of initials, such as RK, with words of y, such as
// Rajesh Kumar. x and y are p.a and p.b, or the reverse if back is true.
func (p *pair) clusters(x, y *name, back bool) {
	howX, howY := &p.howA, &p.howB
	if back {
		howX, howY = &p.howB, &p.howA
	}
	for i := range x.n {
		w := x.w[i].text
		if howX[i] != unmatched || len(w) < 2 || !x.w[i].cluster && len(w) > 2 || w[0] >= 0x80 {
			continue
		}
		for j := 0; j+len(w) <= y.n; j++ {
			if spells(w, y, howY, j) {
				p.note(i, j, len(w), initially, back)
				break
			}
		}
	}
}

// spells reports whether consecutive unmatched words of y, from j on, begin with the letters of w:
// one word for each letter.
func spells(w string, y *name, howY *[maxWords]how, j int) bool {
	for k := range len(w) {
		o := &y.w[j+k]
		if howY[j+k] != unmatched || o.first == 0 || !sameFirst(w[k], o.first) {
			return false
		}
	}
	return true
}
