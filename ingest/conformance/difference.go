package conformance

import (
	"fmt"
	"strings"
)

// shownLines is how many lines of a difference are shown.
const shownLines = 6

// Difference is [difference] for lists of lines.
func Difference(want, got []string) string { return difference(lines(want), lines(got)) }

// difference returns the lines that only one of two texts has: those of want after "-",
// and those of got after "+". It is empty for texts with the same lines.
func difference(want, got string) string {
	counts := make(map[string]int)
	for line := range strings.Lines(want) {
		counts[line]++
	}
	var all []string
	for line := range strings.Lines(got) {
		if counts[line]--; counts[line] < 0 {
			all = append(all, "+"+line)
		}
	}
	for line := range strings.Lines(want) {
		if counts[line] > 0 {
			counts[line]--
			all = append(all, "-"+line)
		}
	}
	if more := len(all) - shownLines; more > 0 {
		all = append(all[:shownLines], fmt.Sprintf("… and %d lines more\n", more))
	}
	return strings.Join(all, "")
}
