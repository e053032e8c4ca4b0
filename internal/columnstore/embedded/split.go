package embedded

import "vayu/schema/statement"

// Statement is one of the statements in an SQL text.
type Statement struct {
	Text   string // without the semicolon
	Verb   string // first keyword, upper case: SELECT, INSERT, …
	Format string // name in the FORMAT clause, "Values" for INSERT … VALUES, "" if there is neither
	Ended  bool   // a semicolon follows
	Body   bool   // an INSERT … FORMAT name without rows, which are to follow
}

// Split splits SQL at its semicolons, but not at those in strings, quoted names and comments. It omits empty
// statements. After INSERT … FORMAT name, the rest of the text is data and belongs to that statement.
func Split(text string) []Statement {
	var all []Statement
	s := statement.Scan(text)
	begin := statement.Token{Kind: statement.End}
	add := func(end int, ended bool) {
		if begin.Kind == statement.End {
			return
		}
		st := statement.Parse(text[begin.Start:end])
		all = append(all, Statement{Text: text[begin.Start:end], Verb: st.Verb, Format: st.Format, Ended: ended, Body: hasData(text[begin.Start:end]) && st.Data >= end-begin.Start})
		begin.Kind = statement.End
	}
	last := 0
	for t := s.Next(); t.Kind != statement.End; t = s.Next() {
		if t.Kind == statement.Other && text[t.Start] == ';' {
			add(t.Start, true)
			continue
		}
		if begin.Kind == statement.End {
			begin = t
		}
		last = t.End
		if s.Word(t) == "FORMAT" && hasData(text[begin.Start:]) {
			add(len(text), true)
			return all
		}
	}
	add(last, false)
	return all
}

// hasData reports whether text is an INSERT with a FORMAT clause. Its data extends to the end of the text.
func hasData(text string) bool {
	st := statement.Parse(text)
	return st.Data >= 0 && st.Format != "" && st.Format != "Values"
}
