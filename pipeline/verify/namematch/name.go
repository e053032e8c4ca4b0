package namematch

// word is one word of a name and its properties.
type word struct {
	text  string // folded, in its own script
	sound sound
	// first is the initial of the word, as a Latin letter; 0 for a script that is not romanised.
	first byte
	// initial means that the word is a single letter. cluster means that the word has two to four letters without a
	// vowel (RK), but is neither a prefix nor weak.
	initial, cluster bool
	// weak, surname and prefix mean that the sound of the word has the trait of that name (see vocabulary.go).
	weak, surname, prefix bool
	// form, filler and trade mean that the spelling has the trait companyForm, filler or trade (see vocabulary.go).
	form, filler, trade bool
	traits              trait // traits of the sound
}

// full reports whether a word is written out: it is neither an initial nor a cluster.
func (w *word) full() bool { return !w.initial && !w.cluster }

// name is a parsed name: the first words of the name, at most maxWords, with their properties.
type name struct {
	marks
	w       [maxWords]word
	n       int
	company bool
	// cut is true if the name is longer than maxWords or maxLetters allow.
	cut bool
}

// read parses the first words of s.
func (m *name) read(s stripped) {
	m.marks = s.marks // s.words is not kept, so that it can stay on the stack of Compare
	letters := 0
	for _, text := range s.words {
		letters += len(text)
		if m.n == maxWords || letters > maxLetters {
			m.cut = true
			break
		}
		m.w[m.n].read(text)
		m.company = m.company || m.w[m.n].form || m.w[m.n].trade
		m.n++
	}
}

func (w *word) read(text string) {
	w.text = text
	spelling := bySpelling[text]
	w.form, w.filler, w.trade = spelling&companyForm != 0, spelling&filler != 0, spelling&trade != 0
	var buf [maxLetters]byte
	latin := append(buf[:0], text...)
	if text[0] >= 0x80 {
		var ok bool
		if latin, ok = romanise(buf[:0], text); !ok || len(latin) == 0 {
			return
		}
	}
	w.sound = soundOf(latin)
	if spelling&apart != 0 {
		w.sound.put('0') // makes a sound that no other word has
	}
	w.first = latin[0]
	w.initial = len(latin) == 1
	w.cluster = len(latin) > 1 && len(latin) < 5 && vowelless(latin)
	key := w.sound.bytes()
	w.traits = bySound[string(key)]
	w.prefix, w.weak, w.surname = w.traits&prefix != 0, w.traits&weak != 0, w.traits&surname != 0
	w.cluster = w.cluster && !w.prefix && !w.weak // Md and Kr are not initials
}

func vowelless(b []byte) bool {
	for _, c := range b {
		if isVowel(c) || c == 'y' {
			return false
		}
	}
	return true
}

// given returns the index of the given name, or -1. The given name is the first written-out word that is not skipped.
// The method skips prefixes such as Md. It skips surnames only if the last word is not a surname. Neither rule applies
// to the last word.
func (m *name) given() int {
	for i := range m.n {
		w := &m.w[i]
		if !w.full() {
			continue
		}
		if w.prefix && i+1 < m.n {
			continue
		}
		if w.surname && i+1 < m.n && !m.w[m.n-1].surname {
			continue
		}
		return i
	}
	return -1
}
