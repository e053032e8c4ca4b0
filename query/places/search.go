package places

import (
	"bytes"
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"unicode"

	"vayu/schema/gazetteer"
)

// Named is a place that [Search] finds. Names are its names in all scripts. Around are the names of places around it,
// such as its state, which count less: "Aurangabad Bihar" finds the city by its name and its state. Whole are names of
// several words that find the place only if all words are searched.
type Named struct{ Names, Around, Whole []string }

// Search finds places by words of their names, even if letters are wrong or missing, or are in another script. It is
// immutable and safe for concurrent use.
type Search struct {
	places int
	words  [][]searchWord // distinct words, by the script of their first letter; see [gazetteer.Script]
	sounds []searchWord   // distinct sounds of words
}

// searchWord is a word of names, or a whole name without blanks. "newdelhi" then finds "New Delhi". In Search.sounds,
// a searchWord is the sound of a word; see [gazetteer.Sound].
type searchWord struct {
	key   string
	runes []rune
	exact bool // not found by misspelt words: contains a digit, or is in Named.Whole only
	set   letterSet
	in    []occurrence
}

// letterSet has a bit for each letter of a word. Several letters have the same bit. If many bits of two words differ,
// so do many letters. Comparing bits is faster than computing the distance of the words.
type letterSet uint64

func setOf(text string) (set letterSet) {
	for _, r := range text {
		set |= 1 << (uint(r) % 64)
	}
	return set
}

// lacks returns how many bits are set in s, but not in `other`.
func (s letterSet) lacks(other letterSet) int { return bits.OnesCount64(uint64(s &^ other)) }

// occurrence is a place whose names have a certain word.
type occurrence struct {
	place int32
	extra int8 // added to the cost of a match: 0, aroundCost, or (only to an exact match) the negative wholeCost
}

// NewSearch returns a search over places. Its results identify a place by its position in the slice.
func NewSearch(all []Named) *Search {
	b := builder{words: map[string]*searchWord{}, sounds: map[string]*searchWord{}, ofName: map[string][]*searchWord{}}
	for i := range all {
		for kind, names := range [][]string{all[i].Names, all[i].Around, all[i].Whole} {
			for _, name := range names {
				found := b.name(name, kind == 2)
				for n, w := range found {
					o := occurrence{place: int32(i)}
					switch {
					case kind == 1:
						o.extra = aroundCost
					case n == 0: // the whole name
						o.extra = wholeCost
					}
					if len(w.in) == 0 || w.in[len(w.in)-1] != o {
						w.in = append(w.in, o)
					}
				}
			}
		}
	}
	s := &Search{places: len(all), words: make([][]searchWord, gazetteer.Scripts+1)}
	for _, key := range slices.Sorted(maps.Keys(b.words)) {
		script := gazetteer.Script(key)
		s.words[script] = append(s.words[script], *b.words[key])
	}
	for _, key := range slices.Sorted(maps.Keys(b.sounds)) {
		s.sounds = append(s.sounds, *b.sounds[key])
	}
	return s
}

// builder collects the words of a Search.
type builder struct {
	words, sounds map[string]*searchWord
	ofName        map[string][]*searchWord // cached words and sounds of a name, because many places have the same name around them
}

// name returns entries for the whole name, its words and their sounds; if `whole` is true, only for the whole name.
func (b *builder) name(name string, whole bool) []*searchWord {
	cached := name
	if whole {
		cached = "whole " + name
	}
	if found, ok := b.ofName[cached]; ok {
		return found
	}
	words := wordsOf(name)
	if len(words) > 1 {
		words = slices.Insert(words, 0, joined(words))
	}
	if whole {
		words = words[:min(1, len(words))]
	}
	found := make([]*searchWord, 0, 2*len(words))
	for _, w := range words {
		digits := strings.ContainsFunc(w.key, unicode.IsDigit)
		entry := add(b.words, w.key)
		entry.exact = entry.exact && (whole || digits)
		found = append(found, entry)
		if w.sound != "" && !digits && !whole {
			found = append(found, add(b.sounds, w.sound))
		}
	}
	b.ofName[cached] = found
	return found
}

// add returns the word with a key. It adds the word if there is none.
func add(words map[string]*searchWord, key string) *searchWord {
	w, ok := words[key]
	if !ok {
		w = &searchWord{key: key, runes: []rune(key), exact: true, set: setOf(key)}
		words[key] = w
	}
	return w
}

// word is a word of a name or of a searched text.
type word struct{ key, sound string }

// wordsOf splits a text into words, with the sound of each.
func wordsOf(text string) []word {
	var words []word
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Cf) }) {
		if key := gazetteer.Key(w); key != "" {
			words = append(words, word{key, gazetteer.Sound(w)})
		}
	}
	return words
}

// joined joins several words into one word.
func joined(words []word) (all word) {
	for _, w := range words {
		all.key += w.key
		all.sound += w.sound
	}
	return all
}

// maxWords is the maximum number of words of a search. The time of a search grows with this number.
const maxWords = 8

// oneTypo and twoTypos are the minimum lengths, in letters, of words that may have one or two typing errors.
const (
	oneTypo  = 4
	twoTypos = 7
)

// These are the costs of a match. Find sorts its results by their costs.
const (
	beginCost  = 1  // a word that begins with the searched one
	typoCost   = 2  // each letter that differs, beside beginCost
	aroundCost = 3  // a word of a place around
	wholeCost  = -1 // the word is a whole name, so that Dharwad is before Hubli Dharwad
	noMatch    = 1 << 10
)

// Find returns at most `limit` places that match all words of a text, the best first. Places that match equally well
// stay in their order. A text of more than maxWords words matches nothing.
func (s *Search) Find(text string, limit int) []int {
	words := wordsOf(text)
	if len(words) == 0 || len(words) > maxWords {
		return nil
	}
	total := make([]int, s.places)
	costs := make([]int, s.places)
	for _, w := range words {
		s.costs(w, costs)
		for i, cost := range costs {
			total[i] += cost
		}
	}
	if len(words) > 1 { // all words may be one name, with a blank that the name lacks
		s.costs(joined(words), costs)
		for i, cost := range costs {
			total[i] = min(total[i], cost)
		}
	}
	var found []int
	for i, cost := range total {
		if cost < noMatch+maxWords*wholeCost {
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(total[a], total[b]) })
	return found[:min(limit, len(found))]
}

// costs sets out[i] to the cost of matching w with the names of place i, or to noMatch. A word in an Indian script also
// matches names that sound like the word. A word of more than maxSuggestKey letters matches nothing.
func (s *Search) costs(w word, out []int) {
	for i := range out {
		out[i] = noMatch
	}
	want := []rune(w.key)
	if len(want) > maxSuggestKey {
		return
	}
	script := gazetteer.Script(w.key)
	set, digits := setOf(w.key), strings.ContainsFunc(w.key, unicode.IsDigit)
	for i := range s.words[script] {
		c := &s.words[script][i]
		c.lower(out, c.cost(w.key, want, set, digits))
	}
	if script == 0 || len(w.sound) < minSound {
		return
	}
	sound := gazetteer.Merge([]byte(w.sound), script)
	buf := make([]byte, 0, maxSuggestKey)
	for i := range s.sounds {
		c := &s.sounds[i]
		buf = gazetteer.Merge(append(buf[:0], c.key...), script)
		c.lower(out, soundCost(sound, buf))
	}
}

// lower reduces the cost in `out` of each place that has the word in a name. The new cost is `cost` plus the extra cost
// of the name. A negative extra cost counts only if `cost` is 0, which means an exact match.
func (w *searchWord) lower(out []int, cost int) {
	if cost >= noMatch {
		return
	}
	for _, o := range w.in {
		if o.extra > 0 || cost == 0 {
			out[o.place] = min(out[o.place], cost+int(o.extra))
		} else {
			out[o.place] = min(out[o.place], cost)
		}
	}
}

// minSound is the least length of a phonetic key that is searched. A shorter key would match too many names.
const minSound = 2

// soundCost returns the cost of a match of `sound` with `want`, the searched sound; noMatch if they do not match.
// Sounds have few vowels, so one different letter is allowed only from five letters on.
func soundCost(want, sound []byte) int {
	switch {
	case bytes.Equal(want, sound):
		return beginCost
	case len(want) > minSound && bytes.HasPrefix(sound, want):
		return 2*beginCost + typoCost
	case len(want) >= 5 && oneApart(want, sound):
		return 2*beginCost + typoCost
	}
	return noMatch
}

// oneApart reports whether two texts are equal, or differ by one letter: added, removed or changed.
func oneApart(a, b []byte) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) {
		return i == len(a) || bytes.Equal(a[i+1:], b[i+1:])
	}
	return len(b) == len(a)+1 && bytes.Equal(a[i:], b[i+1:])
}

// cost returns the cost of a match of w with the searched word `key`, or noMatch. If `key` is short or has digits, or w
// is exact, `key` must equal w or its beginning.
func (w *searchWord) cost(key string, want []rune, set letterSet, digits bool) int {
	switch {
	case w.key == key:
		return 0
	case strings.HasPrefix(w.key, key):
		return beginCost
	case w.exact || digits:
		return noMatch
	}
	if len(want) < oneTypo {
		return noMatch
	}
	allowed := 1
	if len(want) >= twoTypos {
		allowed = 2
	}
	lacking := set.lacks(w.set)
	if lacking <= allowed && w.set.lacks(set) <= allowed {
		if d := distance(want, w.runes, allowed); d <= allowed {
			return beginCost + typoCost*d
		}
	}
	// The searched word may be the beginning of a longer one.
	if lacking <= 1 && len(w.runes) > len(want) && distance(want, w.runes[:len(want)], 1) <= 1 {
		return 2*beginCost + typoCost
	}
	return noMatch
}
