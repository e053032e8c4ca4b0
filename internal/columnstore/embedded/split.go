package embedded

// Statement is one statement of a text with several.
type Statement struct {
	Text   string // without the semicolon
	Verb   string // first keyword, upper case: SELECT, INSERT, …
	Format string // name in the FORMAT clause, "Values" for INSERT … VALUES, "" if there is neither
	Ended  bool   // a semicolon follows
	Body   bool   // an INSERT … FORMAT name without rows, which are to follow
}

// Split splits SQL at its semicolons, but not at those in strings, quoted names and comments. It omits empty statements.
// Behind INSERT … FORMAT name, the rest of the text is data and belongs to that statement.
func Split(text string) []Statement {
	var all []Statement
	s := &scanner{text: text}
	begin := token{kind: tokenEnd}
	add := func(end int, ended bool) {
		if begin.kind == tokenEnd {
			return
		}
		st := readStatement(text[begin.start:end])
		all = append(all, Statement{Text: text[begin.start:end], Verb: st.verb, Format: st.format, Ended: ended, Body: hasData(text[begin.start:end]) && st.data >= end-begin.start})
		begin.kind = tokenEnd
	}
	last := 0
	for t := s.next(); t.kind != tokenEnd; t = s.next() {
		if t.kind == tokenOther && text[t.start] == ';' {
			add(t.start, true)
			continue
		}
		if begin.kind == tokenEnd {
			begin = t
		}
		last = t.end
		if s.word(t) == "FORMAT" && hasData(text[begin.start:]) {
			add(len(text), true)
			return all
		}
	}
	add(last, false)
	return all
}

// hasData reports whether text is an INSERT with a FORMAT clause, whose data has no end but that of the text.
func hasData(text string) bool {
	st := readStatement(text)
	return st.data >= 0 && st.format != "" && st.format != "Values"
}
