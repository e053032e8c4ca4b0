package conformance

import (
	"fmt"
	"strings"
)

// shownLines is the largest number of lines in the text of a difference.
const shownLines = 6

// Difference returns the lines that only one of two lists has: those of `want` after "-", and those of `got` after "+".
// It returns the first six of them, and the number of the others. It returns "" if the lists have the same lines.
func Difference(want, got []string) string { return difference(lines(want), lines(got)) }

// difference does the same as [Difference], for the lines of two texts.
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
