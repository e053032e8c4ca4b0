// Package statement reads as much of a SQL statement as the engine's HTTP interface needs before the statement runs.
package statement

import "strings"

// Statement describes what must be known about a query before it runs, such as where the data of an INSERT begins.
type Statement struct {
	Verb   string // first keyword, upper case
	Text   string // the query; for an INSERT with data, only the text before FORMAT or VALUES
	Format string // the FORMAT clause's name; "Values" for VALUES, "" if there is neither
	Data   int    // offset of an INSERT's data in the text given to Parse; -1 if the statement takes no data
	Many   bool   // more than one statement
	Empty  bool   // nothing but blanks and comments

	outfile bool // the statement has an INTO OUTFILE clause
	clauses int  // offset in Text at which INTO OUTFILE can be inserted
}

// Parse parses `text`. If `text` is an INSERT whose data are not in `text`, Data of the result is len(text).
func Parse(text string) Statement {
	s := Scan(text)
	first := s.Next()
	depth := 0
	for ; first.Kind == Other && text[first.Start] == '('; depth++ {
		first = s.Next()
	}
	st := Statement{Verb: s.Word(first), Text: text, Data: -1, Empty: first.Kind == End}
	if st.Verb == "INSERT" {
		return st.insert(s)
	}
	st.rest(s, depth)
	return st
}

// rest scans the rest of a statement that takes no data. `depth` is the number of open parentheses before the rest.
func (st *Statement) rest(s *Scanner, depth int) {
	ended := false
	st.clauses = s.pos
	for t := s.Next(); t.Kind != End; t = s.Next() {
		if ended && (t.Kind != Other || s.text[t.Start] != ';') {
			st.Many = true
			return
		}
		word := s.Word(t)
		if !ended && st.Format == "" && (depth != 0 || word != "FORMAT") && s.text[t.Start] != ';' {
			st.clauses = t.End
		}
		switch c := s.text[t.Start]; {
		case t.Kind == Other && c == ';':
			ended = true
		case t.Kind == Other && (c == '(' || c == '['):
			depth++
		case t.Kind == Other && (c == ')' || c == ']'):
			depth--
		case word == "OUTFILE":
			st.outfile = true
		case depth == 0 && word == "FORMAT":
			save := s.pos
			if name := s.Next(); name.Kind == Word {
				st.Format = s.text[name.Start:name.End]
			} else {
				s.pos = save
			}
		}
	}
}

// insert scans an INSERT up to its data, which follow FORMAT or VALUES. Without these clauses it scans the whole text.
func (st Statement) insert(s *Scanner) Statement {
	t := s.Next()
	for _, keyword := range []string{"INTO", "TABLE", "FUNCTION"} {
		if s.Word(t) == keyword {
			t = s.Next()
		}
	}
	// t is the table's name, which may be a keyword too. Dots join the parts of a qualified name.
	last := t.End
	for t = s.Next(); t.Kind == Other && s.text[t.Start] == '.'; t = s.Next() {
		last = s.Next().End
	}
	depth := 0
	for ; t.Kind != End; t = s.Next() {
		c := s.text[t.Start]
		switch word := s.Word(t); {
		case t.Kind == Other && c == '(':
			depth++
		case t.Kind == Other && c == ')':
			depth--
		case word == "SELECT" || depth == 0 && (word == "WITH" || word == "FROM" || word == "WATCH"):
			st.rest(s, depth)
			return st
		case depth == 0 && word == "VALUES":
			st.Text, st.Format, st.Data = s.text[:t.Start], "Values", t.End
			return st
		case depth == 0 && word == "FORMAT":
			if name := s.Next(); name.Kind == Word {
				st.Text, st.Format = s.text[:t.Start], s.text[name.Start:name.End]
				st.Data = dataStart(s.text, name.End)
				return st
			}
		case depth == 0 && t.Kind == Other && c == ';':
			st.Text, st.Data = s.text[:t.Start], len(s.text)
			return st
		}
		last = t.End
	}
	st.Text, st.Data = s.text[:last], len(s.text)
	return st
}

// dataStart returns the offset of the data after "FORMAT name", which ends at `pos`. Like ClickHouse, it skips blanks
// and one line break. It skips nothing else, because the data may be binary.
func dataStart(text string, pos int) int {
	for pos < len(text) && strings.IndexByte(" \t\f", text[pos]) >= 0 {
		pos++
	}
	if strings.HasPrefix(text[pos:], "\r\n") {
		return pos + 2
	}
	if pos < len(text) && text[pos] == '\n' {
		return pos + 1
	}
	return pos
}

// Query splits a SELECT into the query and the text after it: the FORMAT clause and what follows. `ok` is false for
// another statement, for several statements, and for a SELECT that writes its result to a file (INTO OUTFILE).
func (st Statement) Query() (query, rest string, ok bool) {
	switch {
	case st.Verb != "SELECT" && st.Verb != "WITH" && st.Verb != "FROM", st.Many, st.outfile:
		return "", "", false
	}
	return st.Text[:st.clauses], st.Text[st.clauses:], true
}

// Into returns the statement, changed so that it writes its result to a file. `format` applies unless the statement has
// a FORMAT clause. `ok` is false if [Statement.Query] returns false. Comments at the end stay, because a client can
// mark its query with a comment.
func (st Statement) Into(file, format string) (text string, ok bool) {
	query, rest, ok := st.Query()
	if !ok {
		return "", false
	}
	text = query + " INTO OUTFILE " + Quote(file) + " TRUNCATE"
	if st.Format == "" {
		text += " FORMAT " + format
	}
	return strings.TrimRight(text+" "+strings.TrimLeft(rest, " "), " "), true
}

// Session reports whether the statement can affect later statements on the same connection, as SET does.
func (st Statement) Session() bool {
	switch st.Verb {
	case "SELECT", "WITH", "FROM", "INSERT", "SHOW", "DESCRIBE", "DESC", "EXISTS", "EXPLAIN", "ALTER", "OPTIMIZE", "TRUNCATE", "DROP":
		return false
	}
	return true // SET, USE, CREATE TEMPORARY TABLE, BEGIN and any statement added later
}

// Quote returns s as a string literal of ClickHouse.
func Quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// QuoteAll returns texts as string literals of ClickHouse, separated by commas.
func QuoteAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, s := range texts {
		quoted[i] = Quote(s)
	}
	return strings.Join(quoted, ", ")
}

// QuoteName returns the parts of a name as quoted identifiers of ClickHouse: QuoteName("vayu", "reading") is
// `vayu`.`reading`.
func QuoteName(parts ...string) string {
	quoted := make([]string, len(parts))
	for i, s := range parts {
		quoted[i] = "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(s) + "`"
	}
	return strings.Join(quoted, ".")
}
