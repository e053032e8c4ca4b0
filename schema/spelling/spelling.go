// Package spelling finds the names that a misspelt name may stand for.
package spelling

import (
	"cmp"
	"slices"
	"strings"

	"github.com/xrash/smetrics"
)

// Similar returns up to `limit` known names that are similar to `name`, the most similar first. It ignores case. Names
// are similar if they differ in one letter, or in at most a third of the letters of `name`. If `name` has three letters
// or more, known names that contain it are similar too. A name whose cost exceeds the lowest by over 1 is omitted.
func Similar(name string, known []string, limit int) (found []string) {
	cost := map[string]int{}
	for _, k := range known {
		if _, seen := cost[k]; seen || k == name {
			continue
		}
		if n, ok := difference(strings.ToLower(name), strings.ToLower(k)); ok {
			cost[k] = n
			found = append(found, k)
		}
	}
	lacking := func(k string) int { // the length of `name` if `k` begins with `name`, else 0
		return len(k) - len(strings.TrimPrefix(strings.ToLower(k), strings.ToLower(name)))
	}
	slices.SortStableFunc(found, func(a, b string) int {
		return cmp.Or(cmp.Compare(cost[a], cost[b]), cmp.Compare(lacking(b), lacking(a)), cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
	for i, k := range found { // drop names that are clearly less similar than the first
		if cost[k] > cost[found[0]]+1 {
			found = found[:i]
			break
		}
	}
	return found[:min(limit, len(found))]
}

// DidYouMean returns a question with up to three similar names and a space before it, or "" if no name is similar.
func DidYouMean(name string, known []string) string {
	found := Similar(name, known, 3)
	if len(found) == 0 {
		return ""
	}
	return " Did you mean " + strings.Join(found, ", ") + "?"
}

// longest is the length of the longest name that is compared, in bytes. A longer name is similar to no other name. The
// time of a comparison grows with the product of the two lengths.
const longest = 100

// difference compares two names. If they differ in few letters, as in a misspelling, `cost` is the number of these
// letters. Otherwise they are similar only if `known` contains `name`, and `name` has at least three letters.
func difference(name, known string) (cost int, similar bool) {
	if len(name) > longest || len(known) > longest {
		return 0, false
	}
	cost = smetrics.WagnerFischer(name, known, 1, 1, 1)
	if cost == 2 && letters(name) == letters(known) { // two letters in the wrong order are one mistake
		cost = 1
	}
	if cost <= max(1, len(name)/3) && cost < min(len(name), len(known)) {
		return cost, true
	}
	return len(name), len(name) >= 3 && strings.Contains(known, name)
}

// letters returns the bytes of a name, sorted.
func letters(name string) string {
	all := []byte(name)
	slices.Sort(all)
	return string(all)
}
