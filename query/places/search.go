package places

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"vayu/schema/gazetteer"
)

// Named is a place that [Search] finds. Names are its names in all scripts. Around are the names of places around it,
// which are less important: "Aurangabad Bihar" finds the city by its name and its state.
type Named struct{ Names, Around []string }

// Search finds places by words of their names, also if letters are wrong or missing. It is immutable and safe for
// concurrent use.
type Search struct {
	places int
	words  []searchWord // distinct
}

// searchWord is a word of names, or a whole name without blanks. "newdelhi" then finds "New Delhi".
type searchWord struct {
	key    string
	runes  []rune
	digits bool // contains a digit, so that other digits are another word
	in     []occurrence
}

// occurrence is a place with a word in its names, or in those of the places around it.
type occurrence struct {
	place  int32
	around bool
}

// NewSearch returns a search over places. Its results identify a place by its position in the slice.
func NewSearch(all []Named) *Search {
	s := &Search{places: len(all)}
	known := map[string]int{}
	for i := range all {
		for around, names := range [][]string{all[i].Names, all[i].Around} {
			for _, name := range names {
				for _, key := range nameKeys(name) {
					n, ok := known[key]
					if !ok {
						n = len(s.words)
						known[key] = n
						s.words = append(s.words, searchWord{key: key, runes: []rune(key), digits: strings.ContainsFunc(key, unicode.IsDigit)})
					}
					s.words[n].in = append(s.words[n].in, occurrence{int32(i), around > 0})
				}
			}
		}
	}
	return s
}

// nameKeys returns the keys of the words of a name, and of the whole name; see [gazetteer.Key].
func nameKeys(name string) []string {
	words := wordKeys(name)
	if len(words) > 1 {
		words = append(words, strings.Join(words, ""))
	}
	return words
}

// wordKeys returns the keys of the words of a text.
func wordKeys(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Cf) })
	for i, word := range words {
		words[i] = gazetteer.Key(word)
	}
	return slices.DeleteFunc(words, func(key string) bool { return key == "" })
}

// maxWords is the largest number of words of a search. The time of a search grows with it.
const maxWords = 8

// oneTypo and twoTypos are the lengths, in letters, from which a word may have one or two wrong or missing letters.
const (
	oneTypo  = 4
	twoTypos = 7
)

// Costs of a match, by which the results are sorted.
const (
	beginCost  = 1 // a word that begins with the searched one
	typoCost   = 2 // each letter that differs, beside beginCost
	aroundCost = 3 // a word of a place around
	noMatch    = 1 << 10
)

// Find returns the places that match all words of a text, the best first, at most limit. Places that match equally well
// stay in their order.
func (s *Search) Find(text string, limit int) []int {
	words := wordKeys(text)
	if len(words) == 0 || len(words) > maxWords {
		return nil
	}
	total := make([]int, s.places)
	for _, word := range words {
		for i, cost := range s.costs(word) {
			total[i] += cost
		}
	}
	if len(words) > 1 { // a blank within a name
		for i, cost := range s.costs(strings.Join(words, "")) {
			total[i] = min(total[i], cost)
		}
	}
	var found []int
	for i, cost := range total {
		if cost < noMatch {
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(total[a], total[b]) })
	return found[:min(limit, len(found))]
}

// costs returns for each place how badly a word matches its names, noMatch if it does not.
func (s *Search) costs(key string) []int {
	out := slices.Repeat([]int{noMatch}, s.places)
	want := []rune(key)
	if len(want) > maxSuggestKey {
		return out
	}
	for i := range s.words {
		cost := s.words[i].cost(key, want)
		if cost == noMatch {
			continue
		}
		for _, o := range s.words[i].in {
			if o.around {
				out[o.place] = min(out[o.place], cost+aroundCost)
			} else {
				out[o.place] = min(out[o.place], cost)
			}
		}
	}
	return out
}

// cost returns how badly the word matches a searched one. A short word, or one with digits, has no typing errors.
func (w *searchWord) cost(key string, want []rune) int {
	switch {
	case w.key == key:
		return 0
	case strings.HasPrefix(w.key, key):
		return beginCost
	case w.digits || strings.ContainsFunc(key, unicode.IsDigit):
		return noMatch
	}
	if len(want) < oneTypo {
		return noMatch
	}
	allowed := 1
	if len(want) >= twoTypos {
		allowed = 2
	}
	if d := distance(want, w.runes, allowed); d <= allowed {
		return beginCost + typoCost*d
	}
	// The searched word may be the beginning of a longer one.
	if len(w.runes) > len(want) && distance(want, w.runes[:len(want)], 1) <= 1 {
		return 2*beginCost + typoCost
	}
	return noMatch
}
