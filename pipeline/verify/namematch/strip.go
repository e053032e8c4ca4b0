package namematch

import "strings"

// stripped is a folded name from which strip removed honorifics and a relation to another person ("son of …").
type stripped struct {
	words []string
	marks
}

// marks are the properties of a name other than its words.
type marks struct {
	// length is the length of the folded name with honorifics. It shows whether a bank may have truncated the name.
	length int
	// tail is true if strip removed the end of the name. Then the last word left is whole: banks cut only the end.
	tail bool
	// sri is true if strip removed a leading Sri as an honorific. Sri may also be half of the name, as in "Sri Devi".
	sri bool
}

// strip splits a folded name into words. It removes M/S, honorifics, and a relation such as S/O with the words after
// it. An honorific stays if it is the only word. strip spells out company forms (Ltd becomes limited).
func strip(words []string, folded string) stripped {
	s := stripped{marks: marks{length: len(folded)}}
	if strings.Trim(folded, " &/") == "" {
		return s
	}
	company := false
	for rest := folded; rest != ""; {
		var w string
		w, rest, _ = strings.Cut(rest, " ")
		if relation(w) && len(words) > 0 {
			s.tail = true
			break
		}
		words, company = appendWord(words, w, company)
	}
	if n := tailOf(words); n > 0 {
		words, s.tail = words[:n], true
	}
	words = joinForms(words)
	if !company {
		company = isCompany(words)
	}
	return s.honorifics(words, company)
}

// appendWord appends the parts of w between slashes, and spells out short forms. It returns whether the name is that
// of a company: true for M/S, which it does not append, and otherwise the given value of `company`.
func appendWord(words []string, w string, company bool) ([]string, bool) {
	if w == "m/s" {
		return words, true
	}
	for rest := w; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		if part == "" {
			continue
		}
		if bySpelling[part]&shortForm != 0 {
			part = forms[part]
		}
		words = append(words, part)
	}
	return words, company
}

// relation reports whether w begins with a relation marker such as S/O, even if a name follows without a blank.
func relation(w string) bool {
	if len(w) < 3 || w[1] != '/' || w[2] != 'o' {
		return false
	}
	return strings.IndexByte("sdwch", w[0]) >= 0
}

// tailOf returns the number of words before a relation that is written out, such as "son of". It returns 0 for none.
func tailOf(words []string) int {
	for i := 1; i+2 < len(words); i++ {
		if words[i+1] != "of" {
			continue
		}
		switch words[i] {
		case "son", "daughter", "wife", "husband", "care":
			return i
		}
	}
	return 0
}

// joinForms replaces "p limited" by "private limited", and a final "l l p" by "llp".
func joinForms(words []string) []string {
	n := len(words)
	if n > 3 && words[n-3] == "l" && words[n-2] == "l" && words[n-1] == "p" {
		words = append(words[:n-3], "llp")
	}
	for i := 1; i+1 < len(words); i++ {
		if words[i] == "p" && words[i+1] == "limited" {
			words[i] = "private"
		}
	}
	return words
}

func isCompany(words []string) bool {
	for _, w := range words[:min(len(words), maxWords)] {
		if bySpelling[w]&(trade|companyForm) != 0 {
			return true
		}
	}
	return false
}

// honorifics removes titles like Mr anywhere, and titles like Sri before a person's name. At least one word stays.
func (s stripped) honorifics(words []string, company bool) stripped {
	kept := words[:0]
	all := words
	left := len(words)
	for i, w := range all {
		t := bySpelling[w]
		front := len(kept) == 0 && t&leading != 0 && !company
		if w == "kumari" || w == "कुमारी" {
			// In Kumari Anita Singh, Kumari is a title (Miss). In Kumari Anita, it may be a name.
			front = front && len(all)-i > 2
		}
		if (t&title != 0 || front) && left > 1 {
			left--
			s.sri = s.sri || front && strings.HasPrefix(w, "s")
			continue
		}
		kept = append(kept, w)
	}
	s.words = kept
	return s
}
