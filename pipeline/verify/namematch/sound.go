package namematch

// maxKey is the largest length of a sound key. A word with a longer key has no sound.
const maxKey = 32

// sound is the phonetic key of a word. Different spellings of an Indian name share a key.
type sound struct {
	b [maxKey]byte
	n uint8
}

func (s *sound) bytes() []byte { return s.b[:s.n] }

// put appends c unless it repeats the last byte: Aggarwal is Agarwal, Aakash is Akash.
func (s *sound) put(c byte) {
	if s.n > 0 && s.b[s.n-1] == c {
		return
	}
	if s.n < maxKey {
		s.b[s.n] = c
	}
	s.n++
}

func isVowel(c byte) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	}
	return false
}

// at returns byte i of w, or 0 outside w.
func at(w []byte, i int) byte {
	if i < 0 || i >= len(w) {
		return 0
	}
	return w[i]
}

// encodeSound returns the sound of a word in lower-case Latin letters and digits. The sound is
// empty if the word has other characters or is too long.
func encodeSound(w []byte) sound {
	var s sound
	for i := 0; i < len(w); {
		c := w[i]
		switch {
		case isVowel(c), c == 'y':
			i += s.vowel(w, i)
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			i += s.consonant(w, i)
		default:
			return sound{}
		}
		if s.n > maxKey {
			return sound{}
		}
	}
	s.finish()
	return s
}

// vowel encodes the vowel or y at w[i]. It returns the number of letters that belong to the sound.
func (s *sound) vowel(w []byte, i int) int {
	c, next := w[i], at(w, i+1)
	last := i+2 >= len(w)
	switch {
	case c == 'y' && isVowel(next): // a consonant, silent after i: Cheriyan, Cherian
		if at(w, i-1) != 'i' {
			s.put('y')
		}
		return 1
	case c == 'y':
		s.put('i')
		return 1
	case c == 'e' && next == 'e', c == 'i' && next == 'e' && last:
		s.put('i')
		return 2
	case c == 'o' && next == 'o', c == 'o' && next == 'u':
		s.put('u')
		return 2
	case c == 'o' && next == 'w' && !isVowel(at(w, i+2)) && !last: // Gowda, Gouda
		s.put('u')
		return 2
	case c == 'a' && next == 'u':
		s.put('o')
		return 2
	case (c == 'a' || c == 'e') && (next == 'i' || next == 'y') && !isVowel(at(w, i+2)):
		s.put('e') // Shaikh, Sheikh; Pandey, Pande; Jai, Jay
		return 2
	}
	s.put(c)
	return 1
}

// consonant encodes the consonant or digit at w[i]. It returns the number of letters that belong to the sound. An h
// after a consonant is ignored, except in ch and ph, because writers omit and add it (Sunitha).
func (s *sound) consonant(w []byte, i int) int {
	c, next := w[i], at(w, i+1)
	switch c {
	case 'x':
		if i > 0 {
			s.put('k')
		}
		s.put('s')
		return 1
	case 'c':
		return s.letterC(w, i)
	case 'p':
		if next == 'h' {
			s.put('f')
			return 2
		}
	case 'd', 'j', 'g':
		if n := knowing(w, i); n > 0 {
			s.put('g')
			s.put('y')
			return n
		}
		if c == 'g' && next == 'y' {
			s.put('g')
			s.put('y')
			return 2
		}
	case 'z':
		if i == len(w)-1 && at(w, i-1) == 'e' {
			s.put('s') // Fernandez, Fernandes
			return 1
		}
	case 'h':
		if i == len(w)-1 && i > 3 {
			return 1 // a silent h at the end: Sarah, Fatimah
		}
	}
	s.put(plainConsonant(c))
	if next == 'h' && c != 'h' {
		return 2
	}
	return 1
}

func plainConsonant(c byte) byte {
	switch c {
	case 'w':
		return 'v'
	case 'z':
		return 'j'
	case 'q':
		return 'k'
	}
	return c
}

// letterC encodes the c at w[i]. It returns the number of letters that belong to the sound. The digraph ch has a sound
// of its own, except before r, where it sounds like k. Any other c sounds like s or k.
func (s *sound) letterC(w []byte, i int) int {
	next := at(w, i+1)
	switch {
	case next == 'h' && at(w, i+2) == 'r':
		s.put('k') // Christopher
		return 2
	case next == 'h' && at(w, i+2) == 'h':
		s.put('c')
		return 3
	case next == 'h':
		s.put('c')
		return 2
	case next == 'k':
		s.put('k')
		return 2
	case next == 'e', next == 'i', next == 'y':
		s.put('s')
		return 1
	}
	s.put('k')
	return 1
}

// knowing returns the number of letters at w[i] that stand for the Devanagari ज्ञ (jn, jny or dny), or 0 if none do.
func knowing(w []byte, i int) int {
	n := 1
	if at(w, i) == 'g' || at(w, i+n) != 'n' {
		return 0
	}
	n++
	switch {
	case at(w, i+n) == 'y':
		return n + 1
	case at(w, i) == 'j' && isVowel(at(w, i+n)):
		return n
	}
	return 0
}

// finish gives different spellings of some endings, such as -endra and -inder, the same sound.
func (s *sound) finish() {
	if s.n > maxKey {
		return
	}
	b := s.bytes()
	// Ramaswamy gets the sound of Ramasamy.
	if n := len(b); n >= 6 && string(b[n-5:]) == "svami" {
		copy(b[n-4:], "ami")
		s.n--
		b = s.bytes()
	}
	// Narendra and Narender get the same sound, and so do Surendra and Surinder.
	if n := len(b); n >= 6 && (b[n-1] == 'r' || b[n-1] == 'a' && b[n-2] == 'r') {
		b = s.inder(b)
	}
	// The last a of Mishra is dropped, because an a after a cluster of consonants is barely audible.
	if n := len(b); n >= 4 && b[n-1] == 'a' && cluster(b[n-3], b[n-2]) {
		s.n--
	}
}

// cluster reports whether a Sanskrit word can end in the consonants x and y followed by an a. If it cannot, the writer
// has left out an a between x and y: Kamla is Kamala. The last a is then audible and distinguishes names: Kamla is not
// Kamal, and Swapna is not Swapan.
func cluster(x, y byte) bool {
	switch {
	case isVowel(x), isVowel(y), x == 'r' && y == 't': // Roberta
		return false
	case y == 'l':
		return x == 'k' // Shukla
	case y == 'n', y == 'm':
		return x == 's' || x == 'r' // Krishna, Sharma
	}
	return true
}

// inder replaces endings such as endra, inder and indar by endr.
func (s *sound) inder(b []byte) []byte {
	n := len(b)
	var stem int
	switch {
	case string(b[n-3:]) == "dra":
		stem = n - 3
	case string(b[n-2:]) == "dr":
		stem = n - 2
	case string(b[n-3:]) == "der", string(b[n-3:]) == "dar":
		stem = n - 3
	default:
		return b
	}
	if stem < 3 || b[stem-1] != 'n' || b[stem-2] != 'e' && b[stem-2] != 'i' {
		return b
	}
	b[stem-2] = 'e'
	copy(b[stem:], "dr")
	s.n = uint8(stem + 2)
	return s.bytes()
}
