package places

import (
	"slices"
	"strings"

	"vayu/schema/gazetteer"
)

// maxSuggestions is the largest number of similar names in an error.
const maxSuggestions = 5

// maxSuggestKey is the length of the longest key for which similar names are searched. No city's name is longer, and
// the time of a search grows with the length.
const maxSuggestKey = 48

// Suggest returns the labels of at most `limit` cities with a name similar to `key` in the same script, sorted by their
// distance from `key`. A name that begins with `key` has the distance 0 if `key` has three or more letters.
func (x *Index) Suggest(key string, limit int) []string {
	if key == "" || len(key) > maxSuggestKey {
		return nil
	}
	type hit struct {
		city, distance int
	}
	want := []rune(key)
	allowed := max(1, len(want)/3) // one letter in three may be wrong
	best := map[int]int{}
	script := gazetteer.Script(key)
	for _, t := range x.terms {
		if gazetteer.Script(t.key) != script {
			continue
		}
		d := 0
		if len(want) < 3 || !strings.HasPrefix(t.key, key) {
			if d = distance(want, []rune(t.key), allowed); d > allowed {
				continue
			}
		}
		if old, ok := best[int(t.city)]; !ok || d < old {
			best[int(t.city)] = d
		}
	}
	hits := make([]hit, 0, len(best))
	for city, d := range best {
		hits = append(hits, hit{city, d})
	}
	slices.SortFunc(hits, func(a, b hit) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(x.labels[a.city], x.labels[b.city])
	})
	var out []string
	for _, h := range hits[:min(limit, len(hits))] {
		out = append(out, x.labels[h.city])
	}
	return out
}

// distance returns the optimal string alignment distance of a and b. That is the number of letters
// that must be added, removed, changed or swapped with a neighbour. If the distance is larger than
// `limit`, the result is limit+1.
func distance(a, b []rune, limit int) int {
	if diff := len(a) - len(b); diff > limit || -diff > limit {
		return limit + 1
	}
	var buf [3][maxSuggestKey + 8]int // on the stack
	before, last, row := buf[0][:], buf[1][:], buf[2][:]
	if len(b) >= len(row) {
		before, last, row = make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	}
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
