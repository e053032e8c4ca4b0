package statement

import (
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a token. It makes only the distinctions that are needed to find the data of an INSERT.
type Kind int

// Kinds of tokens.
const (
	End    Kind = iota
	Word        // a bare identifier or keyword
	Quoted      // 'string', "name", `name` or $tag$heredoc$tag$
	Other       // a number or one character of punctuation
)

// Token is a part of an SQL text, with its kind.
type Token struct {
	Kind       Kind
	Start, End int // byte offsets in the text
}

// Scanner splits SQL into tokens and skips comments, as ClickHouse's lexer does.
type Scanner struct {
	text string
	pos  int
}

// Scan returns a Scanner at the beginning of text.
func Scan(text string) *Scanner { return &Scanner{text: text} }

// Next returns the next token. At the end of the text its kind is End.
func (s *Scanner) Next() Token {
	s.skip()
	start := s.pos
	if start >= len(s.text) {
		return Token{Kind: End, Start: start, End: start}
	}
	switch c := s.text[start]; {
	case c == '\'' || c == '"' || c == '`':
		s.quoted(c)
		return Token{Quoted, start, s.pos}
	case c == '$' && s.heredoc():
		return Token{Quoted, start, s.pos}
	case wordStart(c):
		for s.pos < len(s.text) && (wordStart(s.text[s.pos]) || digit(s.text[s.pos])) {
			s.pos++
		}
		return Token{Word, start, s.pos}
	case digit(c):
		for s.pos < len(s.text) && (wordStart(s.text[s.pos]) || digit(s.text[s.pos]) || s.text[s.pos] == '.') {
			s.pos++
		}
		return Token{Other, start, s.pos}
	default:
		s.pos++
		return Token{Other, start, s.pos}
	}
}

// Word returns the text of a token of the kind Word in upper case, and "" for any other token.
func (s *Scanner) Word(t Token) string {
	if t.Kind != Word {
		return ""
	}
	return strings.ToUpper(s.text[t.Start:t.End])
}

// Odd reports whether ClickHouse may split the text of a token into other tokens than Scanner does. This can happen to
// text outside quotes that is not ASCII, such as typographic quotes and blanks. It can also happen to a text with a
// dollar sign, which begins a heredoc or continues a word.
func (s *Scanner) Odd(t Token) bool {
	text := s.Text(t)
	if text == "" || t.Kind == Quoted && text[0] != '$' {
		return false
	}
	return strings.Contains(text, "$") || strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

// Text returns the text of a token, as it is written.
func (s *Scanner) Text(t Token) string { return s.text[t.Start:t.End] }

// Identifier returns the name in a token. `ok` is false for a token that is no identifier, or that has an escape.
func (s *Scanner) Identifier(t Token) (name string, ok bool) {
	text := s.Text(t)
	switch {
	case t.Kind == Word:
		return text, true
	case t.Kind == Quoted && len(text) > 2 && (text[0] == '`' || text[0] == '"'):
		name = text[1 : len(text)-1]
		return name, !strings.ContainsAny(name, "`\"\\")
	}
	return "", false
}

// skip moves past blanks and comments: "-- …", "// …", "# …", "#! …", "/* … */".
func (s *Scanner) skip() {
	for s.pos < len(s.text) {
		rest := s.text[s.pos:]
		switch {
		case strings.IndexByte(" \t\r\n\f\v\x00", rest[0]) >= 0:
			s.pos++
		case strings.HasPrefix(rest, "\u00a0"):
			s.pos += len("\u00a0")
		case strings.HasPrefix(rest, "\ufeff"):
			s.pos += len("\ufeff")
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "# "), strings.HasPrefix(rest, "#!"):
			s.past("\n", 2)
		case strings.HasPrefix(rest, "/*"):
			s.comment()
		default:
			return
		}
	}
}

// comment moves past a comment "/* … */" that begins here. Comments can be nested, as in ClickHouse.
func (s *Scanner) comment() {
	for depth := 0; s.pos < len(s.text); {
		switch rest := s.text[s.pos:]; {
		case strings.HasPrefix(rest, "/*"):
			depth++
			s.pos += 2
		case strings.HasPrefix(rest, "*/"):
			depth--
			s.pos += 2
			if depth == 0 {
				return
			}
		default:
			s.pos++
		}
	}
}

// past moves to the end of the first `mark` that begins at least `offset` bytes ahead. Without such a mark, it moves to
// the end of the text.
func (s *Scanner) past(mark string, offset int) {
	i := strings.Index(s.text[s.pos+offset:], mark)
	if i < 0 {
		s.pos = len(s.text)
		return
	}
	s.pos += offset + i + len(mark)
}

// quoted moves past a quoted token. In the token, a backslash escapes the next character, and a doubled quote stands
// for one quote.
func (s *Scanner) quoted(quote byte) {
	for s.pos++; s.pos < len(s.text); s.pos++ {
		switch s.text[s.pos] {
		case '\\':
			s.pos++
		case quote:
			if s.pos+1 < len(s.text) && s.text[s.pos+1] == quote {
				s.pos++
				continue
			}
			s.pos++
			return
		}
	}
	s.pos = min(s.pos, len(s.text))
}

// heredoc moves past a heredoc, $tag$ … $tag$, and returns true. If none begins here, it returns false.
func (s *Scanner) heredoc() bool {
	rest := s.text[s.pos:]
	end := strings.IndexByte(rest[1:], '$')
	if end < 0 {
		return false
	}
	tag := rest[:end+2]
	for _, c := range []byte(tag[1 : len(tag)-1]) {
		if !wordStart(c) && !digit(c) {
			return false
		}
	}
	if !strings.Contains(rest[len(tag):], tag) {
		return false
	}
	s.past(tag, len(tag))
	return true
}

func wordStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// Name reports whether s is an identifier without quotes.
func Name(s string) bool {
	for i, c := range []byte(s) {
		if !wordStart(c) && (i == 0 || !digit(c)) {
			return false
		}
	}
	return s != ""
}
