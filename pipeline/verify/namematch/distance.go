package namematch

// An edit changes a sound key, the phonetic form of a word. Frequent variations of a name cost 1 or 2. An edit that may
// result in the name of another person costs a wholeEdit: for example, an edit of the last vowel (Anil, Anila), of a
// consonant, or of the vowel of the first syllable (Rohan, Rehan).
const (
	wholeEdit  = 4
	looseLimit = 2 // the limit of the function loose: one doubtful vowel, or two silent ones
)

// loose reports whether two sound keys are so similar that they may spell the same name. Short keys are never similar.
func loose(a, b []byte) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < 4 || len(b) < 5 || len(b)-len(a) > 2 || a[0] != b[0] {
		return false
	}
	if len(a) == len(b) {
		return sameLength(a, b)
	}
	var prev, cur [maxKey + 1]uint8
	for j := range b {
		prev[j+1] = prev[j] + drop(b, j)
	}
	for i := range a {
		cur[0] = prev[0] + drop(a, i)
		least := cur[0]
		for j := range b {
			cost := min(prev[j]+swap(a, b, i, j), prev[j+1]+drop(a, i), cur[j]+drop(b, j))
			cur[j+1] = cost
			least = min(least, cost)
		}
		if least > looseLimit {
			return false
		}
		prev, cur = cur, prev
	}
	return prev[len(b)] <= looseLimit
}

// sameLength does the same as the function loose, for keys of equal length. It only replaces letters. It never drops
// one letter of each key, so that Pravin and Parveen stay different.
func sameLength(a, b []byte) bool {
	sum := 0
	for i := range a {
		sum += int(swap(a, b, i, i))
	}
	return sum <= looseLimit
}

// drop returns the cost of leaving out the letter w[i]. The letter "a" between two consonants is cheap, because it is
// silent in the middle of a long word (Kamala, Kamla; Arvind, Aravind).
func drop(w []byte, i int) uint8 {
	if w[i] == 'a' && len(w) > 5 && i > 0 && i < len(w)-1 && !isVowel(w[i-1]) && !isVowel(w[i+1]) {
		return 1
	}
	return wholeEdit
}

// swap returns the cost of an edit that replaces the letter a[i] by b[j].
func swap(a, b []byte, i, j int) uint8 {
	x, y := a[i], b[j]
	if x == y {
		return 0
	}
	if i < 2 || j < 2 || len(a) < 6 || i == len(a)-1 || j == len(b)-1 {
		return wholeEdit
	}
	if x > y {
		x, y = y, x
	}
	switch {
	case x == 'a' && y == 'e', x == 'e' && y == 'i', x == 'a' && y == 'o', x == 'o' && y == 'u':
		return 2
	}
	return wholeEdit
}

// slip reports whether two words of seven letters or more differ by at most one letter, which is wrong or missing.
func slip(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < 7 || len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) {
		return a[min(i+1, len(a)):] == b[min(i+1, len(b)):]
	}
	return a[i:] == b[i+1:]
}
