// Package note writes a draft of a description as YAML, with a comment after each guess.
package note

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Certainty states how certain a guess is.
type Certainty string

// The degrees of certainty.
const (
	Found   Certainty = "found"   // the reply or the request states it
	Guessed Certainty = "guess"   // it is likely, but nothing states it
	Unknown Certainty = "unknown" // the author must fill it in
)

// Guess is the guessed value of a key in the description, with the evidence for it.
type Guess struct {
	Key       string    `json:"key"`
	Value     string    `json:"value"`
	Certainty Certainty `json:"certainty"`
	Evidence  string    `json:"evidence"`
}

// Show writes a table of the guesses, the uncertain ones last.
func Show(w io.Writer, guesses []Guess) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, part := range []struct {
		certainty Certainty
		title     string
	}{
		{Found, "FOUND in the request or the reply"},
		{Guessed, "GUESS: check it"},
		{Unknown, "UNKNOWN: fill it in"},
	} {
		_, _ = fmt.Fprintf(out, "%s\tVALUE\tEVIDENCE\n", part.title)
		for _, g := range guesses {
			if g.Certainty == part.certainty {
				_, _ = fmt.Fprintf(out, "  %s\t%s\t%s\n", g.Key, OneLine(g.Value), g.Evidence)
			}
		}
		_, _ = fmt.Fprintln(out, "\t\t")
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the guesses: %w", err)
	}
	return nil
}
