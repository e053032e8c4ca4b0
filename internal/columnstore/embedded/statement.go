package embedded

import "strings"

// statement describes a query as far as necessary before the query runs, such as where the data of an INSERT begins.
type statement struct {
	verb   string // first keyword, upper case
	text   string // the query; of an INSERT with data, what stands before FORMAT or VALUES
	format string // the FORMAT clause's name; "Values" for VALUES, "" if there is neither
	data   int    // offset of an INSERT's data in the text that was read, -1 when the statement takes no data
	totals bool   // WITH TOTALS: the engine does not stream the totals row
	many   bool   // more than one statement
	empty  bool   // nothing but blanks and comments
}

// readStatement parses text. For an INSERT without data in text, the result has data == len(text).
func readStatement(text string) statement {
	s := &scanner{text: text}
	first := s.next()
	depth := 0
	for ; first.kind == tokenOther && text[first.start] == '('; depth++ {
		first = s.next()
	}
	st := statement{verb: s.word(first), text: text, data: -1, empty: first.kind == tokenEnd}
	if st.verb == "INSERT" {
		return st.insert(s)
	}
	st.rest(s, depth)
	return st
}

// rest scans the rest of a statement that takes no data. depth is the number of open parentheses.
func (st *statement) rest(s *scanner, depth int) {
	ended := false
	for t := s.next(); t.kind != tokenEnd; t = s.next() {
		if ended && (t.kind != tokenOther || s.text[t.start] != ';') {
			st.many = true
			return
		}
		switch c := s.text[t.start]; {
		case t.kind == tokenOther && c == ';':
			ended = true
		case t.kind == tokenOther && (c == '(' || c == '['):
			depth++
		case t.kind == tokenOther && (c == ')' || c == ']'):
			depth--
		case s.word(t) == "TOTALS":
			st.totals = true
		case depth == 0 && s.word(t) == "FORMAT":
			save := s.pos
			if name := s.next(); name.kind == tokenWord {
				st.format = s.text[name.start:name.end]
			} else {
				s.pos = save
			}
		}
	}
}

// insert scans an INSERT up to its data behind FORMAT or VALUES, or up to its end if it has a SELECT.
func (st statement) insert(s *scanner) statement {
	t := s.next()
	for _, keyword := range []string{"INTO", "TABLE", "FUNCTION"} {
		if s.word(t) == keyword {
			t = s.next()
		}
	}
	// t is the table's name, which may be a keyword too. Dots join the parts of a qualified name.
	last := t.end
	for t = s.next(); t.kind == tokenOther && s.text[t.start] == '.'; t = s.next() {
		last = s.next().end
	}
	depth := 0
	for ; t.kind != tokenEnd; t = s.next() {
		c := s.text[t.start]
		switch word := s.word(t); {
		case t.kind == tokenOther && c == '(':
			depth++
		case t.kind == tokenOther && c == ')':
			depth--
		case word == "SELECT" || depth == 0 && (word == "WITH" || word == "FROM" || word == "WATCH"):
			st.rest(s, depth)
			return st
		case depth == 0 && word == "VALUES":
			st.text, st.format, st.data = s.text[:t.start], "Values", t.end
			return st
		case depth == 0 && word == "FORMAT":
			if name := s.next(); name.kind == tokenWord {
				st.text, st.format = s.text[:t.start], s.text[name.start:name.end]
				st.data = dataStart(s.text, name.end)
				return st
			}
		case depth == 0 && t.kind == tokenOther && c == ';':
			st.text, st.data = s.text[:t.start], len(s.text)
			return st
		}
		last = t.end
	}
	st.text, st.data = s.text[:last], len(s.text)
	return st
}

// dataStart returns the offset at which data begins behind "FORMAT name". As in ClickHouse, it skips blanks and one
// line break. The data may be binary, so it skips no more.
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

// streams reports whether the result may be fetched in pieces. The engine writes every piece as a complete document.
// So the pieces fit together only in formats without header and footer.
func (st statement) streams(format string) bool {
	switch st.verb {
	case "SELECT", "WITH", "FROM":
	default:
		return false
	}
	return !st.many && !st.totals && streamable[strings.ToLower(format)]
}

var streamable = map[string]bool{
	"native": true, "rowbinary": true, "msgpack": true, "bsoneachrow": true, "null": true,
	"tabseparated": true, "tsv": true, "tabseparatedraw": true, "tsvraw": true, "csv": true,
	"jsoneachrow": true, "jsonlines": true, "ndjson": true, "jsoncompacteachrow": true, "jsonstringseachrow": true,
	"jsoncompactstringseachrow": true, "lineasstring": true, "rawblob": true,
}

// session reports whether the statement can affect later statements on the same connection, as SET does.
func (st statement) session() bool {
	switch st.verb {
	case "SELECT", "WITH", "FROM", "INSERT", "SHOW", "DESCRIBE", "DESC", "EXISTS", "EXPLAIN", "ALTER", "OPTIMIZE", "TRUNCATE", "DROP":
		return false
	}
	return true // SET, USE, CREATE TEMPORARY TABLE, BEGIN and any statement added later
}
